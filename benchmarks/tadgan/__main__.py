"""Fits TadGAN to the published series and prints its F1 beside the published ones.

    FOREWARN_DATA=<folder> python -m benchmarks.tadgan --folder runs/tadgan --minutes 10

Fitting is resumed: each series is one file under `--folder`, and a run ends
after `--minutes` with what it has; run it again until it prints the tables.
The same seed, data and machine give the same numbers.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from benchmarks import results
from benchmarks.tadgan import fitting, judging, series, table
from benchmarks.tadgan.fitting import Common, Preset
from model.training.fitting.fit import Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.tadgan.series import Series

UNWATCHED = 1_000_000
"""Nothing is shipped from here: a run whose error climbs is judged by its F1."""


def preset(seed: int) -> Preset:
    """Return the schedules: published losses, smaller batches, fewer steps."""
    return Preset(
        common=Schedule(
            iterations=320,
            batch=32,
            critic_steps=1,
            learning_rate=4.0e-3,
            hide_ratio=0.0,
            patience_iterations=UNWATCHED,
        ),
        own=Schedule(
            iterations=4,
            batch=32,
            critic_steps=1,
            learning_rate=1.0e-3,
            hide_ratio=0.0,
            patience_iterations=UNWATCHED,
        ),
        seed=seed,
    )


def main() -> int:
    """Fit what is missing, then judge; 1 while something is still missing."""
    arguments = _parser().parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    every = series.read(Path(os.environ["FOREWARN_DATA"]) / "tadgan")
    common = Common(arguments.folder / "common.pt", preset(arguments.seed))
    if not _fit(every, common, arguments.folder, 60.0 * arguments.minutes):
        print("not all series are fitted yet: run the same command again", flush=True)
        return 1
    fitted = ((one, fitting.load(_path(arguments.folder, one))) for one in every)
    judged = judging.judge(fitted, common.cpu_seconds, seed=arguments.seed)
    published = judging.published(Path(os.environ["FOREWARN_DATA"]) / "tadgan", every)
    text, verdict = table.render(judged, published), "\n".join(table.verdicts(judged))
    results.leave(arguments, "tadgan", judged, text, verdict)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tadgan",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, required=True, help="where fitted series are kept")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--minutes", type=float, default=10.0, help="fit no longer than this")
    results.add_places(parser)
    return parser


def _fit(every: Sequence[Series], common: Common, folder: Path, limit_seconds: float) -> bool:
    """Fit what is missing within the time; True when nothing is missing."""
    until = time.monotonic() + limit_seconds
    common.fit(every)
    for done, one in enumerate(every, 1):
        path = _path(folder, one)
        if path.exists():
            continue
        if time.monotonic() > until:
            return False
        fitted = common.tuned(one)
        fitting.save(path, fitted)
        print(f"{done}/{len(every)} {one.name}: {fitted.fit_seconds:.0f} CPU s", flush=True)
    return True


def _path(folder: Path, one: Series) -> Path:
    return folder / f"{one.group}-{one.name}.npz"


if __name__ == "__main__":
    raise SystemExit(main())
