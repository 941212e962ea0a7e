"""The subcommand that tells an artefact how often the nodes of a site fail."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

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
    rate.add_argument("--failures-per-node-week", type=float, metavar="RATE", help="as you know it")
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
        rates = _given(arguments.failures_per_node_week, arguments.share)
    elif arguments.share:
        raise SystemExit("forewarn-model: rebase: --share goes with --failures-per-node-week only")
    if arguments.out is not None and len(arguments.files) > 1:
        raise SystemExit("forewarn-model: rebase: --out takes one file")
    from model.training.artefacts import rebase
    from model.training.fitting import base_rate

    try:
        if rates is None:
            seen = rebase.seen_in(arguments.backtest)
            rates, origin = base_rate.learned(seen), base_rate.origin_of(seen)
        else:
            rates = base_rate.divided(arguments.failures_per_node_week, rates)
        for file in arguments.files:
            told = rebase.rebase(file, arguments.out or file, rates, origin)
            print(f"{arguments.out or file}: {told.total:.4g} failures per node-week, by {origin}")
    except Refused as refusal:
        raise SystemExit(f"forewarn-model: rebase: {refusal}") from None


def _given(rate: float, shares: Sequence[str]) -> dict[str, float]:
    """Return the shares that were given by hand, of a rate that can be one."""
    if not 0.0 < rate <= 7 * 24:
        raise SystemExit(
            f"forewarn-model: rebase: --failures-per-node-week {rate:g}: expected more than 0, and "
            "at most one an hour"
        )
    given: dict[str, float] = {}
    for text in shares:
        cause, _, share = text.partition("=")
        try:
            given[Cause(cause)] = float(share)
        except ValueError:
            raise SystemExit(
                f"forewarn-model: rebase: --share {text!r}: expected CAUSE=SHARE, of "
                f"{', '.join(Cause)}"
            ) from None
    if not _divides(given):
        raise SystemExit(
            "forewarn-model: rebase: --share: expected shares above 0 that leave something for the "
            "causes without one, or add up to 1 over all"
        )
    return given


def _divides(shares: dict[str, float]) -> bool:
    whole = sum(shares.values())
    if not all(share > 0 for share in shares.values()):
        return False
    return abs(whole - 1.0) < 1e-6 if len(shares) == len(Cause) else whole < 1.0
