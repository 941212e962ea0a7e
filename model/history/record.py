"""One node's past as arrays, as its exporter would have seen it at the time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from model.schema import BY_NAME, STEP_SECONDS, Kind, Level
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from model.history.chunks import Chunks

OUTLIVES = frozenset({dcgm.LATCHED, *dcgm.EVENTS.values()})
"""What stays on a page after its GPU has left."""
MIXED_RESTARTS, MIXED_STEPS = 3, 60
"""More restarts of one counter than this within an hour are two sources under one name."""
COARSE_RATIO = 0.55
"""Steps read, of those between the first and the last of a day: one scrape in two steps is less."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Marks [step] of what was taken out of a past, or never said, and why.

    `empty`: the server answered with nothing at all; `coarse`: the whole day holds
    fewer samples than steps; `mixed`: two sources spoke under one name, and the
    counters of some GPU are missing.  `conflicts` counts single samples that
    were told twice with different values.
    """

    empty: NDArray[np.bool_]
    coarse: NDArray[np.bool_]
    mixed: NDArray[np.bool_]
    conflicts: int = 0

    @classmethod
    def nothing(cls, steps: int) -> Lost:
        """Return the marks of a past of which nothing was lost."""
        empty, coarse, mixed = np.zeros((3, steps), dtype=bool)
        return cls(empty, coarse, mixed)


@dataclass(frozen=True, slots=True)
class Record:
    """A node from `start` (wall-clock seconds, on the grid) on, one row per UUID.

    `values` is float64 [gpu, step, channel], counters raw, node channels on the
    rows of the GPUs that report, NaN where nothing was read.  `present` [gpu,
    step]: whether the GPU itself reported; `changed` [step]: whether driver or
    MIG layout changed.  `lost` says what is missing for a reason of its own.
    """

    node: str
    start: int
    names: tuple[str, ...]
    uuids: tuple[str, ...]
    values: NDArray[np.float64]
    present: NDArray[np.bool_]
    changed: NDArray[np.bool_]
    lost: Lost

    @property
    def steps(self) -> int:
        """How many grid steps it spans."""
        return int(self.present.shape[1])

    def channel(self, name: str) -> NDArray[np.float64]:
        """Return [gpu, step] of one channel, all NaN where it was not asked for."""
        if name not in self.names:
            return np.full(self.present.shape, np.nan)
        return self.values[:, :, self.names.index(name)]


def assemble(chunks: Chunks, node: str, names: Sequence[str], first: int, last: int) -> Record:
    """Lay the chunks of a node from `first` to before `last` one after the other."""
    count = (last - first) // STEP_SECONDS
    columns = [chunks.wanted.names.index(name) for name in names]
    gpus: dict[str, NDArray[np.float64]] = {}
    index: dict[str, str] = {}
    own = np.full((count, len(names)), np.nan)
    changed, lost = np.zeros(count, dtype=bool), Lost.nothing(count)
    conflicts = 0
    for over, told in chunks.load(node, first, last):
        begin = round((over.start - first) / over.seconds)
        rows = slice(begin, begin + over.count)
        own[rows], changed[rows] = told.cube.node[:, columns], told.changed
        lost.empty[rows] = told.cube.empty
        conflicts += told.cube.conflicts
        for uuid, found in told.cube.gpu.items():
            index[uuid] = told.cube.index.get(uuid, "")
            into = gpus.setdefault(uuid, np.full((count, len(names)), np.nan))
            into[rows] = found[:, columns]
    uuids = tuple(sorted(gpus, key=lambda uuid: (_number(index[uuid]), index[uuid], uuid)))
    values = np.empty((len(uuids), count, len(names)))
    for row, uuid in enumerate(uuids):
        values[row] = gpus.pop(uuid)  # let go at once: a month of a node is large
    _blank_coarse_days(values, own, first, lost.coarse)
    _blank_mixed(values, names, lost.mixed)
    present = _shared_out(values, own, names)
    lost = replace(lost, conflicts=conflicts)
    return Record(node, first, tuple(names), uuids, values, present, changed, lost)


def _shared_out(
    values: NDArray[np.float64], own: NDArray[np.float64], names: Sequence[str]
) -> NDArray[np.bool_]:
    """Give each row what the exporter's row would have held; return which GPUs report."""
    speaks = [i for i, n in enumerate(names) if BY_NAME[n].level is Level.GPU and n not in OUTLIVES]
    present: NDArray[np.bool_] = np.asarray(~np.isnan(values[:, :, speaks]).all(-1))
    # While any GPU reports, one that does not is lost, and its row holds nothing of the node.
    shared = present | ~np.asarray(present.any(0))
    at_node = [i for i, n in enumerate(names) if BY_NAME[n].level is Level.NODE]
    values[:, :, at_node] = np.where(shared[:, :, None], own[None, :, at_node], np.nan)
    return present


def _blank_coarse_days(
    values: NDArray[np.float64],
    own: NDArray[np.float64],
    first: int,
    coarse: NDArray[np.bool_],
) -> None:
    """Blank and mark days that were downsampled: every fifth step is no history of steps."""
    day = 86_400 // STEP_SECONDS
    offset = (first % 86_400) // STEP_SECONDS
    for begin in range(-offset, len(own), day):
        rows = slice(max(0, begin), begin + day)
        heard = np.flatnonzero(~np.isnan(values[:, rows]).all((0, 2)))
        if len(heard) < 2:
            continue
        typical = np.median(np.diff(heard))
        if typical >= 2 and len(heard) < COARSE_RATIO * (heard[-1] - heard[0] + 1):
            values[:, rows], own[rows] = np.nan, np.nan
            coarse[rows] = True


def _blank_mixed(
    values: NDArray[np.float64], names: Sequence[str], mixed: NDArray[np.bool_]
) -> None:
    """Blank the counters of hours in which they restart over and over, and mark these."""
    counters = [i for i, name in enumerate(names) if BY_NAME[name].kind is Kind.COUNTER]
    for gpu in values:
        restarts = np.zeros(len(gpu), dtype=np.int64)
        for column in counters:
            steps = np.flatnonzero(~np.isnan(gpu[:, column]))
            known = gpu[steps, column]
            fell = steps[1:][known[1:] < 0.5 * known[:-1]]
            here = np.bincount(fell, minlength=len(gpu))
            restarts = np.maximum(restarts, here)
        for begin in range(0, len(gpu), MIXED_STEPS):
            rows = slice(begin, begin + MIXED_STEPS)
            if restarts[rows].sum() >= MIXED_RESTARTS:
                gpu[rows, counters] = np.nan
                mixed[rows] = True


def _number(index: str) -> int:
    return int(index) if index.isdigit() else 1 << 16
