"""Recorded histories as one .npz file.

Arrays, one row per recording unless said otherwise:
`values` float64 [recording, gpu, step, channel] (see `simulator.history`) ·
`channels` [channel] names · `node`, `seed`, `scenario`, `cause` (empty: none) ·
`lookalike` bool · `onset_seconds`, `failure_seconds` (NaN: none) ·
`failure_gpu` (-1: none, or the whole node) · `step_seconds`, `start_seconds` scalars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.history import Recording, record_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulator.history import NodeHistory


def recordings(scenarios: Sequence[str], *, each: int, seed: int) -> list[Recording]:
    """Plan `each` recordings of every scenario; every one has a node and a seed of its own."""
    return [
        Recording(kind, f"{kind}-{index:03d}", seed * 1_000_003 + row * 10_007 + index)
        for row, kind in enumerate(scenarios)
        for index in range(each)
    ]


def write(path: Path, wanted: Sequence[Recording], *, steps: int, gpus: int) -> None:
    """Record all and write them to `path`; raises `OSError` where that is not possible."""
    histories = list(record_all(wanted, steps=steps, gpus=gpus))
    failures = [history.failure for history in histories]
    arrays = {
        "values": np.stack([history.values for history in histories]),
        "channels": np.array(histories[0].channels),
        "node": np.array([history.node for history in histories]),
        "seed": np.array([one.seed for one in wanted], dtype=np.int64),
        "scenario": np.array([history.scenario for history in histories]),
        "cause": np.array([failure.cause if failure else "" for failure in failures]),
        "lookalike": np.array([history.lookalike for history in histories]),
        "onset_seconds": np.array([_or_nan(history) for history in histories]),
        "failure_seconds": np.array([f.time_seconds if f else np.nan for f in failures]),
        "failure_gpu": np.array([_struck(history) for history in histories]),
        "step_seconds": np.array(histories[0].step_seconds),
        "start_seconds": np.array(histories[0].start_seconds),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _or_nan(history: NodeHistory) -> float:
    return np.nan if history.onset_seconds is None else history.onset_seconds


def _struck(history: NodeHistory) -> int:
    gpu = history.failure.gpu if history.failure else None
    return -1 if gpu is None else gpu
