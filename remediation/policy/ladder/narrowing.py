"""From a node to one GPU of it and back: when that no longer does, and when its taint goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.episodes import devices
from remediation.policy.episodes.justify import wanted
from remediation.policy.facts.device import Device
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.steps import EpisodeState, LiftGpu
from remediation.policy.turn import act, state_of

if TYPE_CHECKING:
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.outlook import Outlook
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.snapshot import Snapshot
    from remediation.policy.turn import Turn


def outgrown(episode: Episode, mark: Mark, snapshot: Snapshot, outlook: Outlook) -> bool:
    """Return whether what holds about a node asks for more than the GPU that is tainted.

    Not being able to look asks for nothing.
    """
    suspect, _ = outlook.verdict(episode.name)
    if mark.gpu is None or suspect is None or wanted(suspect, snapshot) <= Rung.SOFTEN:
        return False
    if snapshot.policy.ceiling <= Rung.SOFTEN:
        return False
    target = outlook.targets.get(episode.name)
    if isinstance(target, Refusal):
        return target.reason is not Reason.DEVICES_UNREADABLE
    return not isinstance(target, Device) or target.place != mark.gpu.place


def lift(episode: Episode, snapshot: Snapshot) -> Turn:
    """Take off a GPU what nothing speaks for any more; that needs no grant and no evidence."""
    assert episode.node is not None  # noqa: S101 - only nodes of the pool have left-overs
    rule = devices.left_over(episode.node, snapshot, snapshot.ledger)
    assert rule is not None  # noqa: S101
    step = LiftGpu(
        node=episode.node,
        rule=rule,
        sentence=f"the taint on {rule.place[2]} of {episode.name} is lifted: its episode is over",
    )
    mark = episode.mark
    return act(episode, state_of(mark) if mark is not None else EpisodeState.OBSERVED, step)
