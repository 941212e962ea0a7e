"""What Prometheus answers, as the rows that the window would have been given at the time.

Pure.  What the answer holds is read by `model.sources.series`, as training reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exporter.readings import Gpu
from exporter.window.window import CHANNELS
from model import schema
from model.sources import dcgm
from model.sources import series as families

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from daemon.prometheus import Range, Series

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
        """Return [gpu, channel] as `exporter.window.window.row` would have made it.

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
    """Return PromQL for all channels of `node`."""
    return families.query(CHANNELS, {"node": node, **match}, step_seconds)


def moments(series: Iterable[Series], over: Range) -> list[Moment]:
    """Return one moment per evaluation time; impossible values are missing, as they were live."""
    count = round((over.end - over.start) / over.step) + 1
    cube = families.cube(series, families.Steps(over.start, over.step, count), CHANNELS)
    order = sorted((Gpu(uuid, index) for uuid, index in cube.index.items()), key=_by_index)
    walls = [over.start + step * over.step for step in range(count)]
    return [_moment(wall, step, order, cube) for step, wall in enumerate(walls)]


def _moment(wall: float, step: int, order: Sequence[Gpu], cube: families.Cube) -> Moment:
    rows = {gpu: cube.gpu[gpu.uuid][step] for gpu in order}
    present = tuple(gpu for gpu, row in rows.items() if not np.isnan(row[_REPORTS]).all())
    return Moment(wall, present, {gpu.uuid: rows[gpu] for gpu in present}, cube.node[step])


def _by_index(gpu: Gpu) -> tuple[int, str, str]:
    number = int(gpu.index) if gpu.index.isdigit() else 1 << 16
    return number, gpu.index, gpu.uuid
