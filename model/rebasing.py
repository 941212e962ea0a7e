"""The subcommand that tells an artefact how often the nodes of a site fail."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import destinations, numbers
from daemon.combinations import WrongLine
from model import runtime
from model.history.refused import Refused
from model.schema import Cause

if TYPE_CHECKING:
    from collections.abc import Sequence

REBASE = """\
Sets the base rate of an artefact: how often a node of this site fails where
nothing speaks for it, which every probability is a multiple of.  `train` does
it from a site's own history; the bundled artefact has the field's rate.  What
evidence is worth does not change, so thresholds are crossed sooner where nodes
fail more often.  An exporter takes a file that was set anew for another one:
its memory of the node's last days begins again."""

GIVEN = "hand"
MOST_PER_WEEK = 7.0 * 24.0


def add_rebase(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `rebase`."""
    rebase = commands.add_parser(
        "rebase",
        help="tell an artefact how often the nodes of this site fail",
        description=REBASE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rebase.add_argument("files", type=Path, nargs="+", help="artefacts, replaced in one instant")
    rate = rebase.add_mutually_exclusive_group(required=True)
    rate.add_argument(
        "--backtest",
        type=Path,
        metavar="JSON",
        help="as `backtest --json` has counted on this site",
    )
    rate.add_argument(
        "--failures-per-node-week",
        type=numbers.above(0.0, MOST_PER_WEEK),
        metavar="RATE",
        help="as you know it; at most one an hour",
    )
    rebase.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="CAUSE=SHARE",
        help="share of a cause in that rate, as memory=0.4; repeatable; the others keep the "
        "field's proportions",
    )
    rebase.add_argument(
        "--out", type=Path, help="write here and leave the file as it is; with one file only"
    )
    rebase.set_defaults(run=_rebase)


def _rebase(arguments: argparse.Namespace) -> None:
    rates, origin = None, GIVEN
    if arguments.backtest is None:
        rates = _given(arguments.share)
    elif arguments.share:
        raise WrongLine("--share goes with --failures-per-node-week only")
    _check(arguments)
    from model.training.artefacts import rebase
    from model.training.fitting import base_rate

    try:
        if rates is None:
            seen = rebase.seen_in(arguments.backtest)
            rates, origin = base_rate.learned(seen), base_rate.origin_of(seen)
        else:
            rates = base_rate.divided(arguments.failures_per_node_week, rates)
        # All are read before one is replaced: a bad one leaves all as they were.
        done = [rebase.rebase(file, rates, origin) for file in arguments.files]
    except Refused as refusal:
        raise SystemExit(f"forewarn-model: rebase: {refusal}") from None
    for file, one in zip(arguments.files, done, strict=True):
        out = arguments.out or file
        one.write(out)
        print(f"{out}: {one.told.total:.4g} failures per node-week, by {origin}")


def _check(arguments: argparse.Namespace) -> None:
    """Look at the files that are named; what the extra brings is not needed for that."""
    if arguments.out is not None:
        if len(arguments.files) > 1:
            raise WrongLine("--out takes one file")
        destinations.file("--out", arguments.out, ending=".onnx")
    if arguments.backtest is not None:
        arguments.backtest.open("rb").close()
    for file in arguments.files:
        runtime.load(file)
        if arguments.out is None:
            destinations.file("FILE", file)


def _given(shares: Sequence[str]) -> dict[str, float]:
    """Return the shares that were given by hand."""
    given: dict[str, float] = {}
    for text in shares:
        cause, _, share = text.partition("=")
        try:
            given[Cause(cause)] = float(share)
        except ValueError:
            raise WrongLine(
                f"--share {text!r}: expected CAUSE=SHARE, of {', '.join(Cause)}"
            ) from None
    if not _divides(given):
        raise WrongLine(
            "--share: expected shares above 0 that leave something for the "
            "causes without one, or add up to 1 over all"
        )
    return given


def _divides(shares: dict[str, float]) -> bool:
    whole = sum(shares.values())
    if not all(share > 0 for share in shares.values()):
        return False
    return abs(whole - 1.0) < 1e-6 if len(shares) == len(Cause) else whole < 1.0
