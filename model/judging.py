"""The subcommands that say what an artefact is worth on simulated nodes."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import destinations, numbers
from daemon.combinations import WrongLine, unread
from model import runtime

if TYPE_CHECKING:
    from model.training.worth.sections import Place

SEED = 7
SIZES = ("bundled", "tiny")


EVALUATE = """\
Replays an artefact over simulated nodes that its training never saw, beside the
rivals that a site would have without it, and says what it was worth: recall,
lead time, false alerts, and whether its probabilities are right."""

EVALUATE_EXAMPLE = """\
examples:
  forewarn-model evaluate models/fleet.onnx --html worth.html
      a table, a page with plots, and worth.json beside it with the same numbers

  forewarn-model evaluate models/fleet.onnx --profile stock --without-rivals
      what is left of it on a node with a stock dcgm-exporter and no BMC

  forewarn-model evaluate models/fleet.onnx --quiet-node-weeks 500
      false alerts where nothing fails, on enough nodes to bound them, and beside the nodes
      that do fail whether probabilities are right"""

STRANGERS = """\
Leaves out each kind of simulated fault in turn, fits anew what evidence is worth,
and says how much of the kind is found all the same: what to expect of a failure
that nobody has simulated."""

STRANGERS_EXAMPLE = """\
example:
  forewarn-model leave-each-out model/bundled/fleet.onnx --seed 7 --json strangers.json
      with the networks of the bundled artefact, which have seen no failure either"""


def add_evaluate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `evaluate`."""
    evaluate = commands.add_parser(
        "evaluate",
        help="replay an artefact over unseen nodes",
        description=EVALUATE,
        epilog=EVALUATE_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    evaluate.add_argument("file", type=Path, help="the .onnx file to judge")
    evaluate.add_argument("--simulate", choices=SIZES, default="bundled")
    evaluate.add_argument(
        "--seed", type=numbers.seed, default=SEED, help="the test split of this seed (default: 7)"
    )
    evaluate.add_argument(
        "--profile",
        choices=("full", "stock", "no-bmc"),
        default="full",
        help="how much of each node is visible: everything, a stock dcgm-exporter, no BMC",
    )
    evaluate.add_argument("--html", type=Path, help="write one page with plots here")
    evaluate.add_argument(
        "--json", type=Path, help="write the numbers here (default: beside the page)"
    )
    evaluate.add_argument(
        "--without-rivals", action="store_true", help="judge the artefact alone, in less time"
    )
    evaluate.add_argument(
        "--quiet-node-weeks",
        type=numbers.whole(1),
        metavar="N",
        help="count false alerts on N node-weeks in which nothing fails, and calibrate by them",
    )
    _add_write(evaluate)
    evaluate.set_defaults(run=_evaluate, parser=evaluate)


def add_strangers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `leave-each-out`."""
    strangers = commands.add_parser(
        "leave-each-out",
        help="say what becomes of kinds of fault that training never saw",
        description=STRANGERS,
        epilog=STRANGERS_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    strangers.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="an artefact of the same seed whose TadGAN and constants, which know no failure "
        "either, are taken over (default: fit them anew)",
    )
    strangers.add_argument("--simulate", choices=SIZES, default="bundled")
    strangers.add_argument(
        "--seed", type=numbers.seed, default=SEED, help="decides everything (default: 7)"
    )
    strangers.add_argument("--json", type=Path, help="also write the table here as JSON")
    _add_write(strangers)
    strangers.set_defaults(run=_leave_each_out)


def _add_write(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="replace this run's sections of a page (docs/evaluation.md): its table, and its bars",
    )


def left_out(kinds: list[str]) -> frozenset[str]:
    """Return the kinds of story to train without; an unknown one ends the command."""
    from simulator.faults import STORIES

    if unknown := sorted(set(kinds) - STORIES.keys()):
        raise WrongLine(f"--leave-out {unknown[0]!r}: expected one of {', '.join(STORIES)}")
    return frozenset(kinds)


def _evaluate(arguments: argparse.Namespace) -> None:
    if arguments.quiet_node_weeks is not None:
        why = "--quiet-node-weeks has neither page nor rivals"
        unread(arguments, arguments.parser, ("html", "without_rivals"), why)
    _check(html=arguments.html, json=arguments.json, write=arguments.write)
    runtime.load(arguments.file)
    from model.training.commands import evaluate as judging

    weeks, html = arguments.quiet_node_weeks, arguments.html
    if weeks is not None:
        judging.count_quiet(
            arguments.file,
            weeks,
            arguments.simulate,
            arguments.seed,
            profile=arguments.profile,
            json=arguments.json,
            place=_place(arguments),
        )
        return
    beside = html.with_suffix(".json") if html is not None else None
    judging.evaluate(
        arguments.file,
        arguments.simulate,
        arguments.seed,
        profile=arguments.profile,
        html=html,
        json=arguments.json or beside,
        with_rivals=not arguments.without_rivals,
        place=_place(arguments),
    )


def _leave_each_out(arguments: argparse.Namespace) -> None:
    _check(json=arguments.json, write=arguments.write)
    from model.training.commands import strangers

    strangers.leave_each_out(
        arguments.simulate,
        arguments.seed,
        arguments.file,
        arguments.json,
        place=_place(arguments),
    )


def _place(arguments: argparse.Namespace) -> Place | None:
    """Return the page to write to, with the command that makes its section again."""
    if arguments.write is None:
        return None
    from model.training.worth.sections import Place

    given = vars(arguments)
    usual = {"simulate": SIZES[0], "seed": SEED, "profile": "full", "quiet_node_weeks": None}
    line = ["forewarn-model", arguments.command]
    line += [] if arguments.file is None else [str(arguments.file)]
    for name, default in usual.items():
        if name in given and given[name] != default:
            line += [f"--{name.replace('_', '-')}", str(given[name])]
    line += ["--without-rivals"] if given.get("without_rivals") else []
    return Place(arguments.write, shlex.join([*line, "--write", str(arguments.write)]))


def _check(**paths: Path | None) -> None:
    """Refuse a place where nothing can be written, before hours of work."""
    for name, path in paths.items():
        if path is not None:
            destinations.file(f"--{name}", path)
