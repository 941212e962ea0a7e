"""The last steps of every expected GPU on a fixed grid, gaps included.

Pure and immutable.  The window keeps all channels of a node as they were
read, counters raw in float64, so that it outlives any model; what a model
wants is cut out of it on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from exporter.readings import Place
from model import schema
from model.increments import POWER_LIMIT, Bound, increments, most_per_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exporter.window.snapshot import NodeSnapshot

CHANNELS: tuple[str, ...] = tuple(channel.name for channel in schema.ON_A_NODE)
_COLUMN = {name: column for column, name in enumerate(CHANNELS)}
_COUNTERS = np.array([c.kind is schema.Kind.COUNTER for c in schema.ON_A_NODE])
_GPU_LEVEL = np.array([c.level is schema.Level.GPU for c in schema.ON_A_NODE])


@dataclass(frozen=True, slots=True)
class Window:
    """Readings by grid step.

    `raw` is [step, gpu, channel] float64, oldest step first, NaN where nothing
    was read; `before` is [gpu, channel], the last reading of each channel ahead
    of the first step, and `ages` how many steps ahead of it that was (infinite:
    not known); `walls` is [step], wall-clock seconds of each step, NaN
    for steps that were never lived through.
    """

    uuids: tuple[str, ...]
    raw: NDArray[np.float64]
    before: NDArray[np.float64]
    ages: NDArray[np.float64]
    walls: NDArray[np.float64]

    @property
    def steps(self) -> int:
        """How many grid steps the window holds."""
        return int(self.raw.shape[0])

    @property
    def last_wall(self) -> float:
        """Wall-clock seconds of the newest step, NaN while empty."""
        return float(self.walls[-1]) if self.steps else float("nan")

    def fill_ratio(self, steps: int) -> float:
        """Return the share of the last `steps` steps in which any GPU reported anything."""
        read = ~np.isnan(self.raw[-steps:][:, :, _GPU_LEVEL])
        return float(read.any(axis=(1, 2)).sum()) / steps

    def fill_ratio_since(self, wall: float) -> float:
        """Return the share of all steps that lie after `wall` (seconds) and were read."""
        read = ~np.isnan(self.raw[:, :, _GPU_LEVEL]).all(axis=(1, 2))
        return float((read & (self.walls > wall)).sum()) / self.steps

    def row_at(self, step: int, uuids: Sequence[str]) -> NDArray[np.float64]:
        """Return [gpu, channel] of one step for these GPUs; those not in the window are NaN."""
        have = {uuid: index for index, uuid in enumerate(self.uuids)}
        row = np.full((len(uuids), len(CHANNELS)), np.nan)
        for index, uuid in enumerate(uuids):
            if uuid in have:
                row[index] = self.raw[step, have[uuid]]
        return row

    def push(self, row: NDArray[np.float64], wall: float) -> Window:
        """Return the window one step later; `row` is [gpu, channel], `wall` its time in seconds."""
        leaving = self.raw[0]
        return replace(
            self,
            raw=np.concatenate((self.raw[1:], row[np.newaxis])),
            before=np.where(np.isnan(leaving), self.before, leaving),
            ages=np.where(np.isnan(leaving), self.ages + 1.0, 1.0),
            walls=np.append(self.walls[1:], wall),
        )

    def push_gap(self, wall: float) -> Window:
        """Return the window one step later, in which nothing was read."""
        return self.push(np.full(self.before.shape, np.nan), wall)

    def with_gpus(self, uuids: Sequence[str]) -> Window:
        """Return the window with one row per UUID in that order; new rows are NaN throughout."""
        if tuple(uuids) == self.uuids:
            return self
        have = {uuid: index for index, uuid in enumerate(self.uuids)}
        fresh = empty(uuids, self.steps)
        for index, uuid in enumerate(uuids):
            if uuid in have:
                fresh.raw[:, index] = self.raw[:, have[uuid]]
                fresh.before[index] = self.before[have[uuid]]
                fresh.ages[index] = self.ages[have[uuid]]
        return replace(fresh, walls=self.walls)

    def with_steps(self, steps: int) -> Window:
        """Return the newest `steps` steps, padded in front where it is longer than before."""
        missing = steps - self.steps
        if missing == 0:
            return self
        if missing < 0:
            return self._shortened(-missing)
        padding = np.full((missing, *self.before.shape), np.nan)
        return replace(
            self,
            raw=np.concatenate((padding, self.raw)),
            ages=self.ages - missing,
            walls=np.concatenate((np.full(missing, np.nan), self.walls)),
        )

    def matrix(self, names: Sequence[str]) -> NDArray[np.float32]:
        """Return [gpu, step, channel] float32 for a model: counters as increments per step.

        What a board cannot have drawn in the time is no increment of its energy.
        """
        columns = [_COLUMN[name] for name in names]
        chosen = self.raw[:, :, columns].copy()
        counters = np.flatnonzero(_COUNTERS[columns])
        counted = [columns[place] for place in counters]
        chosen[:, :, counters] = increments(
            chosen[:, :, counters], self.before[:, counted], self._bound(counted)
        )
        return np.ascontiguousarray(chosen.transpose(1, 0, 2), dtype=np.float32)

    def newest(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return [gpu, channel] of the newest step, as it was read."""
        step: NDArray[np.float64] = self.raw[-1]
        return step[:, [_COLUMN[name] for name in names]]

    def known_now(self) -> frozenset[str]:
        """Return the channels that have a value in the newest step, for any GPU."""
        known = ~np.isnan(self.raw[-1]).all(axis=0)
        return frozenset(name for name, here in zip(CHANNELS, known, strict=True) if here)

    def _bound(self, columns: list[int]) -> Bound | None:
        """Return the most that the counters in `columns` can gain."""
        names = [CHANNELS[column] for column in columns]
        limit = _COLUMN[POWER_LIMIT]
        per_step = most_per_step(names, self.raw[:, :, limit])
        ahead = most_per_step(names, self.before[:, limit])
        if per_step is None or ahead is None:
            return None
        return Bound(per_step, ahead, self.ages[:, columns])

    def _shortened(self, by: int) -> Window:
        before, ages = self.before, self.ages
        for leaving in self.raw[:by]:
            ages = np.where(np.isnan(leaving), ages + 1.0, 1.0)
            before = np.where(np.isnan(leaving), before, leaving)
        return replace(self, raw=self.raw[by:], before=before, ages=ages, walls=self.walls[by:])


def empty(uuids: Sequence[str], steps: int) -> Window:
    """Return a window in which nothing was ever read."""
    shape = (len(uuids), len(CHANNELS))
    return Window(
        uuids=tuple(uuids),
        raw=np.full((steps, *shape), np.nan),
        before=np.full(shape, np.nan),
        ages=np.full(shape, np.inf),
        walls=np.full(steps, np.nan),
    )


def row(snapshot: NodeSnapshot) -> NDArray[np.float64]:
    """Return [gpu, channel] of one moment, a row per expected GPU.

    A GPU that left a page that answers is a row of NaN, its latched error code
    included, and the node's readings too: the graph takes those from the rest.
    """
    values = np.full((len(snapshot.expected), len(CHANNELS)), np.nan)
    here = None if snapshot.seen is None else {gpu.uuid for gpu in snapshot.seen}
    for index, gpu in enumerate(snapshot.expected):
        if here is not None and gpu.uuid not in here:
            continue
        for column, channel in enumerate(schema.ON_A_NODE):
            uuid = gpu.uuid if channel.level is schema.Level.GPU else None
            values[index, column] = snapshot.values.get(Place(channel.name, uuid), np.nan)
    return values
