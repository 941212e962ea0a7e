"""Recorded histories as OpenMetrics text with timestamps, for a Prometheus that has no past.

`promtool tsdb create-blocks-from openmetrics FILE DIRECTORY` turns the text into
blocks; a Prometheus started on that directory serves them.  Channels are named
as the exporter publishes them (`forewarn_*` with node, gpu and uuid), or as
dcgm-exporter does (`DCGM_FI_*` with its labels; what a BMC says is then left
out).  What was not read has no sample.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from model.schema import BY_NAME, Kind, Level
from simulator.endpoints import dcgm
from simulator.endpoints.dcgm import gpu_uuid
from simulator.fleet import NodeReading
from simulator.history import record_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TextIO

    from simulator.history import NodeHistory, Recording

INCIDENTS_HEAD = "start,end,node,cause\n"
AFTERMATH_SECONDS = 3_600.0
"""How long after a failure the incident list says that the node was out."""


class Names(StrEnum):
    """Whose names the families carry."""

    FOREWARN = "forewarn"
    DCGM = "dcgm"


class Slice:
    """The text of some histories: families one after the other, as the format wants them.

    Samples are gathered node by node in `folder`, one file per family, so that
    memory does not grow with the nodes; `start` is the time of the first step in
    seconds since the epoch, `labels` are added to every series.
    """

    def __init__(self, folder: Path, names: Names, start: float, labels: Mapping[str, str]) -> None:
        self._folder, self._names, self._start = folder, names, start
        self._labels = "".join(f',{name}="{escaped(value)}"' for name, value in labels.items())
        self._heads: dict[str, str] = {}
        self._samples = 0
        self.incidents: list[str] = []

    def add(self, history: NodeHistory, seed: int) -> None:
        """Add one node; `seed` is its recording's, from which boards have their identity."""
        of_channels = self._names is Names.FOREWARN
        add = self._of_channels if of_channels else self._of_pages
        for family, lines in add(history, seed).items():
            self._samples += len(lines)
            with (self._folder / family).open("a", encoding="utf-8") as file:
                file.writelines(lines)
        failure = history.failure
        last = history.start_seconds + history.step_seconds * (history.values.shape[1] - 1)
        if failure is not None and failure.time_seconds <= last:
            at = self._start + failure.time_seconds
            self.incidents.append(
                f"{at:.0f},{at + AFTERMATH_SECONDS:.0f},{history.node},{failure.cause}\n"
            )

    def write(self, out: TextIO) -> int:
        """Write everything and return the number of samples."""
        for family, head in self._heads.items():
            gathered = self._folder / family
            if gathered.exists():
                out.write(head)
                with gathered.open(encoding="utf-8") as file:
                    shutil.copyfileobj(file, out)
        out.write("# EOF\n")
        return self._samples

    def _of_channels(self, history: NodeHistory, seed: int) -> dict[str, list[str]]:
        samples: dict[str, list[str]] = defaultdict(list)
        gpus = [
            f'node="{history.node}",gpu="{gpu}",uuid="{gpu_uuid(seed, history.node, gpu)}"'
            for gpu in range(history.values.shape[0])
        ]
        times = self._times(history)
        for column, name in enumerate(history.channels):
            channel = BY_NAME[name]
            counter = channel.kind is Kind.COUNTER
            family = channel.metric.removesuffix("_total") if counter else channel.metric
            kind = "counter" if counter else "gauge"
            self._heads[family] = f"# TYPE {family} {kind}\n"
            owners = gpus if channel.level is Level.GPU else [f'node="{history.node}"']
            for row, owner in enumerate(owners):
                series = f"{channel.metric}{{{owner}{self._labels}}}"
                samples[family] += _lines(series, history.values[row, :, column], times)
        return samples

    def _of_pages(self, history: NodeHistory, seed: int) -> dict[str, list[str]]:
        """Turn pages by time into series by name: the format wants a series in one piece."""
        of_series: dict[str, list[str]] = defaultdict(list)
        for step, time in enumerate(self._times(history)):
            page = dcgm.page(reading(history, step), seed)
            for line in page.splitlines():
                if line.startswith("# TYPE"):
                    _, _, family, kind = line.split(" ")
                    # Counters of dcgm-exporter do not end in _total, which the format insists on.
                    kind = "unknown" if kind == "counter" else kind
                    self._heads[family] = f"# TYPE {family} {kind}\n"
                elif not line.startswith("#"):
                    series, _, value = line.rpartition(" ")
                    of_series[f"{series[:-1]}{self._labels}}}"].append(f"{value} {time}\n")
        samples: dict[str, list[str]] = defaultdict(list)
        for series, values in of_series.items():
            samples[series.partition("{")[0]] += [f"{series} {value}" for value in values]
        return samples

    def _times(self, history: NodeHistory) -> list[str]:
        first = self._start + history.start_seconds
        steps = range(history.values.shape[1])
        return [f"{first + step * history.step_seconds:.3f}" for step in steps]


def export(
    wanted: Sequence[Recording],
    into: Slice,
    *,
    steps: int,
    gpus: int,
    report: Callable[[], None] = lambda: None,
) -> None:
    """Record all and add them to `into`; `report` hears of each."""
    for recording, history in zip(wanted, record_all(wanted, steps=steps, gpus=gpus), strict=True):
        into.add(history, recording.seed)
        report()


def escaped(value: str) -> str:
    """Return a label value as it stands between quotes."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _lines(series: str, values: np.ndarray, times: list[str]) -> Iterator[str]:
    for step in np.flatnonzero(np.isfinite(values)):
        yield f"{series} {values[step]:.17g} {times[step]}\n"


def reading(history: NodeHistory, step: int) -> NodeReading:
    """Return what dcgm-exporter needs to know of one step; a page without values is down."""
    values = history.values[:, step]
    gpus = values.shape[0]
    column = history.channels.index("gpu_power_watts")
    used = values[:, history.channels.index("gpu_utilization_ratio")]
    nothing = np.zeros(gpus)
    return NodeReading(
        node=history.node,
        time_seconds=history.start_seconds + step * history.step_seconds,
        values=values,
        page_up=bool(np.isfinite(values[:, column]).any()),
        bmc_up=True,
        host_on=True,
        scrape_seconds=0.0,
        dead=np.isnan(values[:, column]),
        hidden=np.zeros(gpus, dtype=bool),
        occupied=np.nan_to_num(used) > 0.0,
        core_celsius=nothing,
        memory_celsius=nothing,
        watts=nothing,
    )
