"""What `forewarn-model train` does with a site's history, alone or as one pod of many."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from daemon.clocks import system_clock
from daemon.prometheus import HistoryUnreadable
from model.history import planning
from model.history.reader import connect
from model.history.refused import Refused
from model.training.commands.bars import Bars, plain, progress
from model.training.fitting.fit import Diverged
from model.training.judging import table
from model.training.site import fleet, own
from model.training.site.campaign import Campaign, Folders, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from model.history.plan import Plan, PlannedNode
    from model.training.site.campaign import Mark


def train(
    plan: Plan, folders: Folders, *, stages: Sequence[str], shard: int | None, wait_seconds: float
) -> int:
    """Train the fleet's model, nodes' own models, or both; the number of nodes that failed."""
    console = plain()
    reader = connect(plan.server)
    with progress(console) as bars:
        campaign = Campaign(plan, folders, reader, Bars(bars))
        if "fleet" in stages:
            _fleet(campaign, console)
    if "nodes" not in stages:
        return 0
    quiet = Campaign(plan, folders, reader, lambda *_: None)
    what = f"fleet model of this plan in {folders.models}"
    planning.wait(lambda: fleet.is_done(quiet), wait_seconds, threading.Event().wait, what)
    return nodes(quiet, plan.nodes if shard is None else plan.shard(shard), console.print)


def nodes(campaign: Campaign, share: Sequence[PlannedNode], say: Callable[[str], object]) -> int:
    """Train each node of a share; one whose past cannot be read is left for the next run."""
    failed = 0
    clock = system_clock()
    for place, node in enumerate(share, 1):
        began = clock.monotonic()
        try:
            mark = own.train(campaign, node)
        except HistoryUnreadable as failure:
            failed += 1
            say(f"[{place}/{len(share)}] {node.name}: not read: {failure}")
            continue
        took = clock.monotonic() - began
        say(f"[{place}/{len(share)}] {node.name}: {_ended(mark)} ({took:.0f} s)")
    return failed


def _ended(mark: Mark) -> str:
    if mark.outcome is not Outcome.TRAINED:
        return f"fleet model: {mark.why}"
    return f"own model; no variation in {mark.why}" if mark.why else "own model"


def _fleet(campaign: Campaign, console: Console) -> None:
    path = campaign.folders.model("fleet")
    if fleet.is_done(campaign):
        console.print(f"{path}: done before, from this plan")
        return
    try:
        trained = fleet.train(campaign)
    except Diverged as error:
        raise Refused(f"training diverged, nothing written: {error}") from error
    console.print(table.render(trained.judged))
    console.print(f"\n{trained.told}")
    for line in trained.warnings:
        console.print(f"warning: {line}")
    console.print(f"wrote {path}")
