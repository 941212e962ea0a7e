"""What Prometheus answers, as the rows that the window would have been given at the time.

Pure.  Counters stay raw: the model's increments are made from them in one
place, and a reset while nobody watched is a reset still.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exporter.readings import Gpu
from exporter.window import CHANNELS
from model import schema
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exporter.backfill.prometheus import Range, Series

_BY_METRIC = {channel.metric: channel for channel in schema.ON_A_NODE}
_COLUMN = {name: column for column, name in enumerate(CHANNELS)}
_GPU_LEVEL = np.array([c.level is schema.Level.GPU for c in schema.ON_A_NODE])
_REPORTS = np.array([c.name not in {dcgm.LATCHED, *dcgm.EVENTS.values()} for c in schema.ON_A_NODE])
"""What only a GPU that is there can say: XIDs outlive it on the page."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One grid step of the past: `row_of` by UUID is [channel], NaN where nothing was read.

    `node` is [channel] with the node's own channels.  `present` are the GPUs
    that reported, in the order of their indices.
    """

    wall: float
    present: tuple[Gpu, ...]
    row_of: Mapping[str, NDArray[np.float64]]
    node: NDArray[np.float64]

    @property
    def known(self) -> bool:
        """Whether anything at all was read."""
        return bool(self.present) or not bool(np.isnan(self.node).all())

    def row(self, expected: Sequence[Gpu]) -> NDArray[np.float64]:
        """Return [gpu, channel] as `exporter.window.row` would have made it.

        While any GPU reports, one that does not is lost: its row is NaN, the
        node's channels included.  While none does, the node's are all there is.
        """
        rows = np.full((len(expected), len(CHANNELS)), np.nan)
        for index, gpu in enumerate(expected):
            own = self.row_of.get(gpu.uuid)
            if own is not None:
                rows[index] = np.where(_GPU_LEVEL, own, self.node)
            elif not self.present:
                rows[index] = self.node
        return rows


def query(node: str, step_seconds: float, match: Mapping[str, str]) -> str:
    """Return PromQL for all channels of `node`.

    `last_over_time` over one step, where a bare selector would carry the last
    value over a gap of minutes.  `max` folds what differs only in labels of the
    scrape: pods and instances come and go.
    """
    names = "|".join(channel.metric for channel in schema.ON_A_NODE)
    matchers = {"node": node, **match}
    more = ",".join(f"{label}={_quoted(value)}" for label, value in matchers.items())
    selector = f'{{__name__=~"{names}",{more}}}[{round(step_seconds * 1000)}ms]'
    return f"max by (__name__, gpu, uuid) (last_over_time({selector}))"


def moments(series: Iterable[Series], over: Range) -> list[Moment]:
    """Return one moment per evaluation time; impossible values are missing, as they were live."""
    count = round((over.end - over.start) / over.step) + 1
    gpus: dict[str, Gpu] = {}
    cube: dict[str, NDArray[np.float64]] = {}
    node = np.full((count, len(CHANNELS)), np.nan)
    for one in series:
        channel = _BY_METRIC.get(one.metric.get("__name__", ""))
        if channel is None:
            continue
        if channel.level is schema.Level.NODE:
            target = node
        elif uuid := one.metric.get("uuid", ""):
            gpus[uuid] = Gpu(uuid, one.metric.get("gpu", ""))
            target = cube.setdefault(uuid, np.full((count, len(CHANNELS)), np.nan))
        else:
            continue
        column = target[:, _COLUMN[channel.name]]
        np.fmax(column, _values(one, channel, over, count), out=column)
    order = sorted(gpus.values(), key=_by_index)
    walls = [over.start + step * over.step for step in range(count)]
    return [_moment(wall, step, order, cube, node) for step, wall in enumerate(walls)]


def _moment(
    wall: float,
    step: int,
    order: Sequence[Gpu],
    cube: Mapping[str, NDArray[np.float64]],
    node: NDArray[np.float64],
) -> Moment:
    present = tuple(gpu for gpu in order if not np.isnan(cube[gpu.uuid][step, _REPORTS]).all())
    return Moment(wall, present, {gpu.uuid: cube[gpu.uuid][step] for gpu in present}, node[step])


def _values(one: Series, channel: schema.Channel, over: Range, count: int) -> NDArray[np.float64]:
    values = np.full(count, np.nan)
    for wall, text in one.values:
        step = round((wall - over.start) / over.step)
        value = _number(text)
        if 0 <= step < count and channel.plausible(value):
            values[step] = value
    return values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _by_index(gpu: Gpu) -> tuple[int, str, str]:
    number = int(gpu.index) if gpu.index.isdigit() else 1 << 16
    return number, gpu.index, gpu.uuid


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
