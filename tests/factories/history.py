"""Small pasts of a node, written step by step."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from model.history.failures import LABEL_CHANNELS
from model.history.record import Lost, Record
from model.schema import BY_NAME, STEP_SECONDS, Level
from simulator.endpoints.dcgm import gpu_uuid
from simulator.history import record_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.history import NodeHistory, Recording
    from tests.factories.prometheus import Asked, Told

START = 1_700_006_400
HOUR_STEPS = 60


def record(
    steps: int, gpus: int = 2, names: Sequence[str] = LABEL_CHANNELS, **changes: Any
) -> Record:
    """Return a node that works: every GPU reports, energy grows, nothing is flagged."""
    values = np.full((gpus, steps, len(names)), np.nan)
    for column, name in enumerate(names):
        usual = {"gpu_temperature_celsius": 50.0, "gpu_power_watts": 400.0}.get(name, 0.0)
        if name == "gpu_energy_joules_total":
            values[:, :, column] = 1e9 + np.arange(steps) * 24_000.0
        elif "margin" not in name and name != "gpu_hardware_xid_events_total":
            values[:, :, column] = usual
    present = np.ones((gpus, steps), dtype=bool)
    uuids = tuple("ABCDEFGH"[:gpus])
    quiet = np.zeros(steps, dtype=bool)
    told = {"node": "n1", "start": START, "names": tuple(names), "uuids": uuids}
    told |= {"values": values, "present": present, "changed": quiet, "lost": Lost.nothing(steps)}
    return Record(**(told | changes))


def lose(one: Record, gpu: int | slice, first: int, last: int | None = None) -> None:
    """Take GPUs off the page from `first` to before `last`."""
    one.values[gpu, first:last] = np.nan
    one.present[gpu, first:last] = False


def at(step: float) -> float:
    """Return the wall-clock second of a step."""
    return START + step * STEP_SECONDS


def as_record(history: NodeHistory) -> Record:
    """Return a simulated node as a source without a word of restarts tells it."""
    names = [name for name in LABEL_CHANNELS if name in history.channels]
    values = history.values[:, :, [history.channels.index(name) for name in names]]
    present = ~np.isnan(values[:, :, [name != "gpu_xid_code" for name in names]]).all(-1)
    uuids = tuple(map(str, range(len(values))))
    steps = values.shape[1]
    told = (values, present, np.zeros(steps, bool), Lost.nothing(steps))
    return Record(history.node, START, tuple(names), uuids, *told)


class SimulatedSite:
    """Answers the questions of training from simulated nodes; for `FakePrometheus.answer`."""

    def __init__(self, recordings: Sequence[Recording], steps: int, gpus: int = 2) -> None:
        self.histories = list(record_all(recordings, steps=steps, gpus=gpus))
        self.end = START + steps * STEP_SECONDS

    def __call__(self, asked: Asked) -> Told | None:
        """Return the whole answer to one question."""
        if asked.query.startswith("count by"):
            found = [
                {"metric": {"node": one.node}, "values": [[asked.start, "2"]]}
                for one in self.histories
            ]
            return _said(found)
        node = re.search(r'node="([^"]+)"', asked.query)
        names = re.search(r'__name__=~"([^"]+)"', asked.query)
        assert node is not None
        assert names is not None
        history = next(one for one in self.histories if one.node == node[1])
        return _said(list(_series(history, set(names[1].split("|")), asked)))


def _series(history: NodeHistory, metrics: set[str], asked: Asked) -> Any:
    first = round((asked.start - START) / STEP_SECONDS)
    rows = slice(max(0, first), first + asked.points)
    for column, name in enumerate(history.channels):
        if BY_NAME[name].metric not in metrics:
            continue
        gpus = 1 if BY_NAME[name].level is Level.NODE else len(history.values)
        for gpu in range(gpus):
            found = history.values[gpu, rows, column]
            walls = START + (rows.start + np.arange(len(found))) * STEP_SECONDS
            values = [
                [w, repr(v)] for w, v in zip(walls.tolist(), found.tolist(), strict=True) if v == v
            ]
            metric = {"__name__": BY_NAME[name].metric, "node": history.node}
            if BY_NAME[name].level is Level.GPU:
                metric |= {"gpu": str(gpu), "uuid": gpu_uuid(7, history.node, gpu)}
            if values:
                yield {"metric": metric, "values": values}


def _said(result: list[dict[str, Any]]) -> Told:
    document = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()
