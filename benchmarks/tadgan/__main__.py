"""Fits TadGAN to the published series and prints its F1 beside the published ones.

    FOREWARN_DATA=<folder> python -m benchmarks.tadgan --folder runs/tadgan --minutes 10

Work is resumed: weights and counts of each series are files under `--folder`, and a run ends
after `--minutes` with what it has; run it again until it prints the tables.
The same seed, data and machine give the same numbers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from benchmarks import recorded, results
from benchmarks.tadgan import judging, looking, series, table
from benchmarks.tadgan.fitting import Members, Preset
from benchmarks.tadgan.judging import Judged, OneSeries
from benchmarks.tadgan.stages import Stages
from daemon import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.tadgan.series import Series


def preset(seed: int) -> Preset:
    """Return how long both models of each fit train."""
    return Preset(
        common=Stages(rebuilding=1_500, rebuilding_rate=2.0e-3, game=300),
        own=Stages(rebuilding=120, rebuilding_rate=1.0e-3, game=10),
        seed=seed,
    )


def main() -> int:
    """Fit and judge what is missing; 1 while something is still missing."""
    arguments = _parser().parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    # Nothing here reads memory before it is written; filling it first costs a third of the time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    data = recorded.find("tadgan")
    every = series.read(data)
    until = time.monotonic() + 60.0 * arguments.minutes
    found = [_of_seed(every, arguments.folder / str(seed), seed, until) for seed in arguments.seeds]
    judged = [one for one in found if one is not None]
    if len(judged) < len(found):
        print("not all series are judged yet: run the same command again", flush=True)
        return 1
    text = table.render(judged, judging.published(data, every))
    results.leave(arguments, "tadgan", judged, text, "\n".join(table.verdicts(judged)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tadgan",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, required=True, help="where fitted series are kept")
    parser.add_argument("--seeds", type=numbers.seed, nargs="+", default=[7])
    parser.add_argument(
        "--minutes", type=numbers.above(0.0, 1e5), default=10.0, help="fit no longer than this"
    )
    results.add_places(parser)
    return parser


def _of_seed(every: Sequence[Series], folder: Path, seed: int, until: float) -> Judged | None:
    """Fit and judge what is missing of a seed; None if the time ends before that."""
    members = Members(folder, preset(seed))
    members.fit(every)
    judged = []
    for one in every:
        path = folder / f"{one.group}-{one.name}.json"
        if not path.exists() and time.monotonic() > until:
            return None
        judged.append(_judged(one, members, path, seed))
    return judging.judge(judged, members.common_cpu_seconds, seed=seed)


def _judged(one: Series, members: Members, path: Path, seed: int) -> OneSeries:
    """Fit and judge a series, or take what an earlier run left of either."""
    if path.exists():
        return msgspec.json.decode(path.read_bytes(), type=OneSeries)
    fits = members.kept(one)
    fit_seconds = sum(fitted.fit_seconds for fitted in fits)
    tadgans = [fitted.tadgan for fitted in fits]
    looks = looking.looks(one, tadgans)
    made = looking.spoilt(one, tadgans, looks.train, seed)
    judged = judging.one_series(one, looks, made, fit_seconds)
    path.with_suffix(".tmp").write_bytes(msgspec.json.encode(judged))
    path.with_suffix(".tmp").replace(path)
    print(f"{one.group} {one.name}: fitted in {fit_seconds:.0f} CPU s", flush=True)
    return judged


if __name__ == "__main__":
    raise SystemExit(main())
