"""Arguments of `forewarn-simulator record` and `export`, and what they do."""

from __future__ import annotations

import datetime as dt
import re
import sys
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from daemon import destinations, numbers
from daemon.clocks import system_clock
from simulator import mix
from simulator.faults import EVERY, STORIES
from simulator.recorder import openmetrics, training_set
from simulator.recorder.progress import Progress

if TYPE_CHECKING:
    import argparse

    from simulator.history import Recording

DAY_STEPS = 1_440
START = "2026-01-01T00:00:00Z"


def add_record(record: argparse.ArgumentParser) -> None:
    """Make `record` the parser of `forewarn-simulator record`."""
    record.description = training_set.__doc__
    record.formatter_class = RawDescriptionHelpFormatter
    _history_arguments(record)
    record.set_defaults(act=_record)


def add_export(export: argparse.ArgumentParser) -> None:
    """Make `export` the parser of `forewarn-simulator export`."""
    export.description = openmetrics.__doc__
    export.formatter_class = RawDescriptionHelpFormatter
    _history_arguments(export)
    add = export.add_argument
    names = openmetrics.Names
    add("--names", type=names, choices=list(names), default=names.FOREWARN, help="whose names")
    add("--start", default=START, help=f"time of the first step (default {START})")
    add("--label", action="append", default=[], metavar="NAME=VALUE", help="added; repeatable")
    add("--incidents", type=Path, help="also write the failures as a CSV list of incidents")
    export.set_defaults(act=_export)


def _history_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `record` and `export` have in common."""
    add = parser.add_argument
    add("--out", type=Path, required=True, help="file to write")
    add(
        "--scenario",
        action="append",
        choices=list(EVERY),
        help="repeatable; default: all of which sets are drawn",
    )
    add("--each", type=numbers.whole(1), default=2, help="recordings of every scenario (default 2)")
    add(
        "--field",
        type=numbers.whole(1),
        metavar="NODES",
        help="so many nodes with the mix of the field instead",
    )
    add(
        "--failures-per-node-day",
        type=numbers.real(0.0, 1_000.0),
        default=mix.FAILURES_PER_NODE_DAY,
        help=f"of --field (default {mix.FAILURES_PER_NODE_DAY}, as published)",
    )
    add(
        "--days",
        type=numbers.days,
        default=1.0,
        help="length of each, in days of 60 s steps (default 1)",
    )
    add("--gpus", type=numbers.whole(1), default=8, help="GPUs per node (default 8)")
    add(
        "--mended",
        type=numbers.above(0.0, 0.99),
        metavar="RATIO",
        help="every fault is mended at this share of its way, and none fails",
    )
    add("--seed", type=numbers.seed, default=7, help="same seed, same numbers (default 7)")


def _planned(options: argparse.Namespace) -> tuple[list[Recording], int]:
    """Return what to record, and of how many steps; raises `ValueError` for what is impossible."""
    destinations.file("--out", options.out)
    steps = max(1, round(options.days * DAY_STEPS))
    if options.field is None:
        kinds = options.scenario or list(STORIES)
        return training_set.recordings(
            kinds, each=options.each, seed=options.seed, mended_ratio=options.mended
        ), steps
    if options.scenario or options.mended is not None:
        raise ValueError("--field draws what happens; expected no --scenario or --mended beside it")
    wanted = training_set.field(
        options.field,
        days=options.days,
        seed=options.seed,
        failures_per_node_day=options.failures_per_node_day,
    )
    return wanted, steps


def _progress(total: int) -> Progress:
    return Progress("recorded", total, sys.stderr, system_clock().monotonic)


def _record(options: argparse.Namespace) -> int:
    wanted, steps = _planned(options)
    report = _progress(len(wanted)).step
    training_set.write(options.out, wanted, steps=steps, gpus=options.gpus, report=report)
    print(f"{options.out}: {len(wanted)} histories of {steps} steps, {options.gpus} GPUs each")
    return 0


def _export(options: argparse.Namespace) -> int:
    wanted, steps = _planned(options)
    if options.incidents is not None:
        destinations.file("--incidents", options.incidents)
    start = _moment(options.start)
    labels = dict(map(_label, options.label))
    report = _progress(len(wanted)).step
    with options.out.open("w", encoding="utf-8") as out, TemporaryDirectory() as folder:
        text = openmetrics.Slice(Path(folder), options.names, start, labels)
        openmetrics.export(wanted, text, steps=steps, gpus=options.gpus, report=report)
        samples = text.write(out)
    if options.incidents is not None:
        lines = openmetrics.INCIDENTS_HEAD + "".join(text.incidents)
        options.incidents.write_text(lines, encoding="utf-8")
    print(
        f"{options.out}: {samples} samples of {len(wanted)} nodes, {len(text.incidents)} failures"
    )
    print(f"promtool tsdb create-blocks-from openmetrics {options.out} DIRECTORY")
    return 0


def _moment(text: str) -> float:
    """Return seconds since the epoch; raises `ValueError` for what is no time with an offset."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"--start {text}: expected a time such as {START}") from error
    if moment.tzinfo is None:
        raise ValueError(f"--start {text}: expected an offset or Z at its end, as in {START}")
    return moment.timestamp()


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name):
        raise ValueError(f"--label {text}: expected NAME=VALUE")
    return name, value
