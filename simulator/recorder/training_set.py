"""Recorded histories as one .npz file.

Arrays, one row per recording unless said otherwise:
`values` float64 [recording, gpu, step, channel] (see `simulator.history`) ·
`channels` [channel] names · `node`, `seed`, `scenario`, `cause` (empty: none),
`pace` (gradual, sudden; empty: none), `workload` · `lookalike` bool ·
`onset_seconds`, `failure_seconds`, `mended_seconds` (NaN: none) · `failure_gpu` (-1: none, or the
whole node) · `severity`, `shape`, `duration_seconds` of the story (NaN: nothing
happens) · `step_seconds`, `start_seconds` scalars.

The file is written as it is recorded, under a name of its own, and takes its
place when it is whole.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from simulator import mix
from simulator.faults import story
from simulator.history import Recording, record_all
from simulator.scenario import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simulator.history import NodeHistory

SEED_STRIDE = 1_000_003


def recordings(
    scenarios: Sequence[str], *, each: int, seed: int, mended_ratio: float | None = None
) -> list[Recording]:
    """Plan `each` recordings of every scenario; every one has a node and a seed of its own."""
    return [
        Recording(
            kind,
            f"{kind}-{index:03d}",
            seed * SEED_STRIDE + row * 10_007 + index,
            mended_ratio=mended_ratio,
        )
        for row, kind in enumerate(scenarios)
        for index in range(each)
    ]


def field(nodes: int, *, days: float, seed: int, failures_per_node_day: float) -> list[Recording]:
    """Plan recordings of `nodes` as the field would have them, see `simulator.mix`."""
    rng = np.random.default_rng([seed, nodes])
    kinds = [
        mix.draw_kind(rng, days=days, failures_per_node_day=failures_per_node_day)
        for _ in range(nodes)
    ]
    return [
        Recording(kind, f"node-{index:04d}", seed * SEED_STRIDE + index)
        for index, kind in enumerate(kinds)
    ]


def write(
    path: Path,
    wanted: Sequence[Recording],
    *,
    steps: int,
    gpus: int,
    report: Callable[[], None] = lambda: None,
) -> None:
    """Record all and write them to `path`; `report` hears of each.

    Raises `OSError` where that is not possible; memory does not grow with the
    number of recordings.
    """
    part = path.with_name(path.name + ".part")
    told: list[NodeHistory] = []
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for history in _stream(archive, wanted, steps, gpus):
                told.append(_without_values(history))
                report()
            for name, array in _labels(told, wanted).items():
                with archive.open(f"{name}.npy", "w") as file:
                    npy.write_array(file, np.asarray(array), allow_pickle=False)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _stream(
    archive: zipfile.ZipFile, wanted: Sequence[Recording], steps: int, gpus: int
) -> Iterator[NodeHistory]:
    """Write the values while they are recorded, and hand on each history."""
    with archive.open("values.npy", "w", force_zip64=True) as file:
        for row, history in enumerate(record_all(wanted, steps=steps, gpus=gpus)):
            if row == 0:
                shape = (len(wanted), *history.values.shape)
                header = {"descr": "<f8", "fortran_order": False, "shape": shape}
                npy.write_array_header_2_0(file, header)
            file.write(np.ascontiguousarray(history.values, dtype="<f8").tobytes())
            yield history


def _without_values(history: NodeHistory) -> NodeHistory:
    return history.with_values(np.empty((0, 0, len(history.channels))))


def _labels(told: Sequence[NodeHistory], wanted: Sequence[Recording]) -> dict[str, object]:
    failures = [history.failure for history in told]
    stories = [(one.parameters, story(one.scenario)) for one in told]
    quiet = np.nan
    return {
        "channels": np.array(told[0].channels),
        "node": np.array([history.node for history in told]),
        "seed": np.array([one.seed for one in wanted], dtype=np.int64),
        "scenario": np.array([history.scenario for history in told]),
        "cause": np.array([failure.cause if failure else "" for failure in failures]),
        "pace": np.array([str(kind.pace) if kind.cause else "" for _, kind in stories]),
        "workload": np.array([str(one.workload) for one, _ in stories]),
        "lookalike": np.array([history.lookalike for history in told]),
        "onset_seconds": np.array(
            [quiet if one.onset_seconds is None else one.onset_seconds for one in told]
        ),
        "failure_seconds": np.array([f.time_seconds if f else quiet for f in failures]),
        "mended_seconds": np.array(
            [quiet if o.mended_seconds is None else o.mended_seconds for o, _ in stories]
        ),
        "failure_gpu": np.array([-1 if f is None or f.gpu is None else f.gpu for f in failures]),
        "severity": np.array([quiet if o.kind == HEALTHY else o.severity for o, _ in stories]),
        "shape": np.array([quiet if o.kind == HEALTHY else o.shape for o, _ in stories]),
        "duration_seconds": np.array(
            [quiet if o.kind == HEALTHY else o.duration_seconds for o, _ in stories]
        ),
        "step_seconds": np.array(told[0].step_seconds),
        "start_seconds": np.array(told[0].start_seconds),
    }
