"""The subcommands of `forewarn-model` that read a site's own history."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import destinations, numbers
from daemon.clocks import system_clock
from daemon.combinations import WrongLine, unread
from daemon.prometheus import HistoryUnreadable
from model import runtime
from model.history import arguments as flags
from model.history.plan import discover
from model.history.reader import connect
from model.history.refused import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.history.plan import Plan

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DEFAULT_SEED = 7
FLEET_NODES = 32
FLEET_WAIT_SECONDS = 6 * 3_600.0
_FLEET = f"nodes that the fleet's model is trained on (default: {FLEET_NODES})"
_SHARDS = "shares of nodes that the plan is made for (default: 1)"
_SCHEDULE = (
    "how long a site's models are trained: 'tiny' shows that everything works and is worth nothing "
    "(default: full, or tiny with --simulate tiny)"
)
INDEX = "JOB_COMPLETION_INDEX"
"""Set by Kubernetes in each pod of an Indexed Job."""

TRAIN = """\
Trains on simulated nodes (--simulate SIZE --out FILE), or on a site's own
history (--prometheus URL, or --work of a plan, --out FOLDER): first the fleet's
model, then one for each node that has at least three days of quiet time to
learn from.  What is done is never trained again: a run that was stopped or
killed goes on where it was when the same line is given again."""

PLAN = """\
Finds the nodes of a site and fixes what its training consists of: nodes, time
span, seed and shards.  `train --work` carries it out, in any number of pods."""

BACKTEST = """\
Replays an artefact over a site's own history and says what it would have said:
recall, lead time, false alerts, and whether its probabilities were better than
to answer "healthy" always.  Run it before you trust an alert."""


def add_train(parser: argparse.ArgumentParser) -> None:
    """Add what `train` needs for a site's history."""
    flags.add(parser, required=False)
    _add_work(parser, required=False)
    parser.add_argument("--fleet-nodes", type=numbers.whole(1), help=_FLEET)
    parser.add_argument("--shards", type=numbers.whole(1), help=_SHARDS)
    parser.add_argument("--schedule", choices=("full", "tiny"), help=_SCHEDULE)
    parser.add_argument(
        "--only",
        choices=("fleet", "nodes"),
        help="only the fleet's model, or only nodes' own (which waits for plan and fleet's model)",
    )
    parser.add_argument(
        "--shard",
        type=numbers.whole(0),
        metavar="INDEX",
        help=f"only the nodes of this share of the plan, from 0 (default: ${INDEX}, else all)",
    )


def add_plan(commands: Commands) -> None:
    """Add the subcommand `plan`."""
    plan = commands.add_parser(
        "plan",
        help="find a site's nodes and share their training out",
        description=PLAN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add(plan, required=True)
    _add_work(plan, required=True)
    plan.add_argument("--shards", type=numbers.whole(1), help=_SHARDS)
    plan.add_argument("--fleet-nodes", type=numbers.whole(1), help=_FLEET)
    plan.add_argument("--schedule", choices=("full", "tiny"), help=_SCHEDULE)
    plan.add_argument("--seed", type=numbers.seed, help="decides every weight (default: 7)")
    plan.add_argument(
        "--simulate",
        choices=("bundled", "tiny", "none"),
        help="simulated failures beside the site's own (default: bundled)",
    )
    plan.set_defaults(run=_plan)


def add_backtest(commands: Commands) -> None:
    """Add the subcommand `backtest`."""
    backtest = commands.add_parser(
        "backtest",
        help="replay an artefact over a site's own history",
        description=BACKTEST,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    backtest.add_argument("file", type=Path, help="the .onnx file to judge")
    flags.add(backtest, required=True)
    _add_work(backtest, required=False, kept="the history that was read")
    backtest.add_argument("--html", type=Path, help="write one page with plots here")
    backtest.add_argument(
        "--json", type=Path, help="write the numbers here (default: beside the page)"
    )
    backtest.set_defaults(run=_backtest)


def train(arguments: argparse.Namespace) -> int:
    """Carry out a plan, making it first where there is none; 1 where a node could not be read."""
    _check(arguments)
    destinations.folder("--out", arguments.out)
    with _clearly():
        waits = FLEET_WAIT_SECONDS if arguments.only == "nodes" else 0.0
        if waits and not arguments.prometheus:
            _wait_for_plan(arguments.work, waits)
        plan = _known_or_made(arguments)
        if line := destinations.made(arguments.out):
            print(f"forewarn-model: {line}", file=sys.stderr)
        from model.training.commands import site as site_command
        from model.training.site.campaign import Folders

        shard = arguments.shard
        if shard is None and os.environ.get(INDEX, "").isdigit():
            shard = int(os.environ[INDEX])
        failed = site_command.train(
            plan,
            Folders(arguments.work, arguments.out),
            stages=(arguments.only,) if arguments.only else ("fleet", "nodes"),
            shard=shard,
            wait_seconds=waits,
        )
    return int(bool(failed))


def without_a_site(arguments: argparse.Namespace) -> None:
    """Raise `WrongLine` where what only a site's training reads is given without a site."""
    of_a_site = ("only", "shard", "shards", "fleet_nodes", "schedule", *flags.NAMES)
    unread(arguments, arguments.parser, of_a_site, "goes with --prometheus or --work only")


def _check(arguments: argparse.Namespace) -> None:
    """Raise `WrongLine` where a site's training would not read what is given."""
    if arguments.work is None:
        raise WrongLine("--prometheus needs --work, a folder to keep in")
    unread(
        arguments, arguments.parser, ("leave_out",), "goes with --simulate SIZE and no site only"
    )
    if arguments.only == "fleet" and arguments.shard is not None:
        raise WrongLine("--shard: shares are of nodes; expected none with --only fleet")
    if not arguments.prometheus:
        fixed = ("shards", "fleet_nodes", *flags.NAMES)
        unread(
            arguments, arguments.parser, fixed, "the plan in --work says it; expected --prometheus"
        )


def _add_work(
    parser: argparse.ArgumentParser,
    *,
    required: bool,
    kept: str = "plan, history and marks of what is done",
) -> None:
    parser.add_argument(
        "--work",
        type=Path,
        required=required,
        metavar="FOLDER",
        help=f"{kept}; keep it, and a later run goes on",
    )


def _plan(arguments: argparse.Namespace) -> None:
    from model.history import planning

    with _clearly():
        made = _made(arguments)
        print(planning.describe(made, arguments.work))


def _wait_for_plan(work: Path, seconds: float) -> None:
    """Wait for the plan, which another pod makes."""
    from model.history import planning

    rest = threading.Event().wait
    planning.wait(lambda: planning.find(work) is not None, seconds, rest, f"plan in {work}")


def _known_or_made(arguments: argparse.Namespace) -> Plan:
    """Return the plan in --work; where there is none, make it of the flags."""
    from model.history import planning

    known = planning.find(arguments.work)
    if known is None:
        if not arguments.prometheus:
            planning.load(arguments.work)
        return _made(arguments)
    said = {name: getattr(arguments, name) for name in ("seed", "simulate", "schedule", "shards")}
    planning.holds(known, said, fleet_nodes=arguments.fleet_nodes)
    if not arguments.prometheus:
        return known
    asked = flags.read(arguments, system_clock().wall)
    planning.agrees(known, asked, until=bool(arguments.until))
    return planning.at(known, asked.server)


def _made(arguments: argparse.Namespace) -> Plan:
    from model.history import planning

    asked = flags.read(arguments, system_clock().wall)
    made, strange = planning.make(
        connect(asked.server),
        asked,
        planning.Decided(
            DEFAULT_SEED if arguments.seed is None else arguments.seed,
            arguments.simulate or "bundled",
            arguments.schedule or ("tiny" if arguments.simulate == "tiny" else "full"),
        ),
        shards=arguments.shards or 1,
        fleet=arguments.fleet_nodes or FLEET_NODES,
    )
    for line in strange:
        print(f"forewarn-model: {asked.origin}: {line}", file=sys.stderr)
    planning.write(arguments.work, made, asked.incidents)
    return made


def _backtest(arguments: argparse.Namespace) -> None:
    html, json = arguments.html, arguments.json
    for flag, path in (("--html", html), ("--json", json)):
        if path is not None:
            destinations.file(flag, path)
    runtime.load(arguments.file)
    with _clearly(), ExitStack() as stack:
        asked = flags.read(arguments, system_clock().wall)
        print(f"forewarn-model: backtest: asks {asked.server.url}", file=sys.stderr, flush=True)
        reader = connect(asked.server)
        found = discover(reader, asked.question, asked.start, asked.end)
        # What judges takes seconds to import: a server that is not there is said before.
        from model.training.commands import backtest

        work = arguments.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        beside = html.with_suffix(".json") if html is not None else None
        history = backtest.History(asked, reader, found, work / "history")
        backtest.run(arguments.file, history, html=html, json=json or beside)


@contextmanager
def _clearly() -> Iterator[None]:
    """Turn what a person can set right into one line and status 1."""
    try:
        yield
    except (Refused, HistoryUnreadable) as refusal:
        raise SystemExit(f"forewarn-model: {refusal}") from None
