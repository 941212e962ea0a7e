"""Runs Orion's own TadGAN and ours on the same series, on the same core, in the same run.

    FOREWARN_DATA=<folder> python -m benchmarks.tadgan.orion --folder runs/tadgan \\
        --orion <environment>/bin/python

Orion wants an environment of its own: Python 3.11 with `orion-ml==0.7.1`,
`setuptools<81` and `scikit-learn<1.8`.  It trains each series from nothing, with
the settings that it publishes for the set; one series takes five to fifteen
minutes.  Ours is tuned from the common models under `--folder`, whose training
is shared by all series of the benchmark and counted by its share; it is judged
by the paper's one scoring for all sets.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from benchmarks import recorded, results
from benchmarks.tadgan import looking, overlap, series
from benchmarks.tadgan import published as published_scorer
from benchmarks.tadgan.__main__ import preset
from benchmarks.tadgan.fitting import Members
from daemon import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.tadgan.overlap import Counts
    from benchmarks.tadgan.series import Series

SETTINGS = {
    "SMAP": "smap",
    "artificialWithAnomaly": "artificialwithanomaly",
    "realAdExchange": "realadexchange",
    "realTraffic": "realtraffic",
}
"""The file of published settings of each set."""

TIMES_AS_LONG = 10
PEAK_MIB = 500
"""The bars of cost: how many times our training Orion's must take, and our memory."""

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
}
PROGRAM = """
import json, resource, sys
from pathlib import Path
import numpy as np, pandas as pd, orion
job = json.load(sys.stdin)
folder = Path(orion.__file__).parent / "pipelines" / "verified" / "tadgan"
settings = json.loads((folder / f"tadgan_{job['settings']}.json").read_text())
step = settings["mlstars.custom.timeseries_preprocessing.time_segments_aggregate#1"]["interval"]
def frame(values):
    return pd.DataFrame({"timestamp": np.arange(len(values)) * step, "value": values})
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
model = orion.Orion(pipeline="tadgan", hyperparameters=settings)
began = spent()
model.fit(frame(job["train"]))
fitted = spent()
found = model.detect(frame(job["test"]))
print()
print(json.dumps({
    "detected": [[int(a // step), int(b // step)] for a, b in zip(found["start"], found["end"])],
    "fit_seconds": fitted - began,
    "detect_seconds": spent() - fitted,
    "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""
"""What runs in Orion's environment: a series on standard input, what was found on the last line."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One program on one series: CPU seconds, peak of resident memory, what was found."""

    series: str
    program: str
    fit_seconds: float
    look_seconds: float
    peak_mib: float
    counts: Counts


def main() -> int:
    """Run both on each series and print the ratios."""
    arguments = _parser().parse_args()
    torch.set_num_threads(1)
    every = series.read(recorded.find("tadgan"))
    chosen = [one for one in every if one.name in arguments.series]
    members = Members(arguments.folder / str(arguments.seed), preset(arguments.seed))
    members.fit(every)
    ran = []
    for one in chosen:
        ran += [_ours(one, members, len(every)), _orion(one, arguments.orion)]
        print(*map(_line, ran[-2:]), sep="\n", flush=True)
    results.leave(arguments, "orion", ran, render(ran), verdict(ran))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tadgan.orion",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, required=True, help="as of `benchmarks.tadgan`")
    parser.add_argument("--orion", type=Path, required=True, help="the Python that has Orion")
    parser.add_argument("--seed", type=numbers.seed, default=7)
    parser.add_argument(
        "--series",
        nargs="+",
        default=["A-6", "exchange-3_cpc_results"],
        help="names of series (A-6 exchange-3_cpc_results)",
    )
    results.add_places(parser)
    return parser


def _ours(one: Series, members: Members, shared_by: int) -> Ran:
    fits = members.tuned(one)
    fit_seconds = sum(fitted.fit_seconds for fitted in fits)
    looks = looking.looks(one, [fitted.tadgan for fitted in fits])
    known = published_scorer.parts(looks.test.values, looks.test.seen)
    found = published_scorer.detect(published_scorer.score(known, published_scorer.PAPERS_SCORE))
    return Ran(
        one.name,
        "Forewarn",
        fit_seconds + members.common_cpu_seconds / shared_by,
        looks.cpu_seconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        overlap.count(one.truth, found),
    )


def _orion(one: Series, python: Path) -> Ran:
    job = {
        "settings": SETTINGS[one.group],
        "train": one.train.tolist(),
        "test": one.test.tolist(),
    }
    ended = subprocess.run(
        [python, "-c", PROGRAM],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
    )
    if ended.returncode:
        raise SystemExit(f"Orion on {one.name} ended with {ended.returncode}:\n{ended.stderr}")
    said = json.loads(ended.stdout.splitlines()[-1])
    detected = [(first, last) for first, last in said["detected"]]
    return Ran(
        one.name,
        "Orion",
        said["fit_seconds"],
        said["detect_seconds"],
        said["peak_mib"],
        overlap.count(one.truth, detected),
    )


def render(ran: Sequence[Ran]) -> str:
    """Return the table."""
    heads = (
        "series",
        "program",
        "training, CPU s",
        "detection, CPU s",
        "peak, MiB",
        "found, false, missed",
        "F1",
    )
    head = f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}"
    return "\n".join((head, *map(_line, ran)))


def _line(one: Ran) -> str:
    counts = one.counts
    return (
        f"| {one.series} | {one.program} | {one.fit_seconds:.0f} | {one.look_seconds:.1f}"
        f" | {one.peak_mib:,.0f} | {counts.found}, {counts.false}, {counts.missed}"
        f" | {counts.f1:.2f} |"
    )


def verdict(ran: Sequence[Ran]) -> str:
    """Return the bars of cost and how far they were reached, series by series."""
    return "\n".join(_bars(ours, theirs) for ours, theirs in zip(ran[::2], ran[1::2], strict=True))


def _bars(ours: Ran, theirs: Ran) -> str:
    longer = theirs.fit_seconds / ours.fit_seconds
    cheap = longer >= TIMES_AS_LONG and ours.counts.f1 >= theirs.counts.f1
    return (
        f"- TadGAN's cost on {ours.series}, bar a {TIMES_AS_LONG}th of Orion's training at no lower"
        f" F1: Orion trains {longer:.1f} times as long, F1 {ours.counts.f1:.2f} of ours,"
        f" {theirs.counts.f1:.2f} of Orion's: {_told(reached=cheap)}. Bar {PEAK_MIB} MiB:"
        f" {ours.peak_mib:,.0f} of ours, {theirs.peak_mib:,.0f} of Orion's:"
        f" {_told(reached=ours.peak_mib <= PEAK_MIB)}."
    )


def _told(*, reached: bool) -> str:
    return "reached" if reached else "missed"


if __name__ == "__main__":
    raise SystemExit(main())
