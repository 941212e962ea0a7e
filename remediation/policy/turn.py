"""One episode's turn: the finding, the step if any, and how the ledger changes before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remediation.policy.facts.mark import Mark, MarkState
from remediation.policy.facts.node import Node
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.facts.taint import Effect
from remediation.policy.steps import Decision, EpisodeState, Finding, NodeWrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from remediation.policy.episodes.episode import Episode
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.steps import Step


def unchanged(ledger: Ledger) -> Ledger:
    """Return `ledger`: a turn that records nothing."""
    return ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one episode decided.  `change` is applied to the ledger before the step is taken.

    An imagined change counts for the episodes that follow in this tick, and is not recorded.
    """

    finding: Finding
    step: Step | None = None
    change: Callable[[Ledger], Ledger] = unchanged
    imagined: bool = False


def wait(
    episode: Episode,
    state: EpisodeState,
    refusal: Refusal,
    change: Callable[[Ledger], Ledger] = unchanged,
) -> Turn:
    """Do nothing, and say which guard refused."""
    finding = Finding(
        node=episode.name,
        episode=episode.id,
        state=state,
        decision=Decision.WAIT,
        refusal=refusal,
        sentence=f"{episode.name} waits: {refusal.words}",
    )
    return Turn(finding=finding, change=change)


def act(
    episode: Episode,
    state: EpisodeState,
    step: Step,
    change: Callable[[Ledger], Ledger] = unchanged,
) -> Turn:
    """Take `step`, after `change` is recorded."""
    finding = Finding(
        node=episode.name,
        episode=episode.id,
        state=state,
        decision=step.decision,
        sentence=step.sentence,
    )
    return Turn(finding=finding, step=step, change=change)


def only_observed(episode: Episode, step: Step, change: Callable[[Ledger], Ledger]) -> Turn:
    """Say what would be done; `change` counts for the rest of this tick only."""
    finding = Finding(
        node=episode.name,
        state=EpisodeState.OBSERVED,
        decision=step.decision,
        refusal=Refusal(Reason.OBSERVE_MODE, "the mode is observe"),
        only_observed=True,
        sentence=f"would act: {step.sentence}; the mode is observe",
    )
    return Turn(finding=finding, change=change, imagined=True)


def state_of(mark: Mark) -> EpisodeState:
    """Return the state that a mark alone tells."""
    if mark.state is MarkState.DRAINED and mark.handed is not None and mark.handed.made:
        return EpisodeState.HANDED_OVER
    return EpisodeState(mark.state.value)


def rewrite(decision: Decision, node: Node, mark: Mark, sentence: str) -> NodeWrite:
    """Write another mark and leave taint and cordon as they are."""
    return NodeWrite(
        decision=decision,
        node=node,
        mark=mark,
        effect=_effect(mark),
        unschedulable=None,
        sentence=sentence,
    )


def _effect(mark: Mark) -> Effect | None:
    if mark.cordoned:
        return Effect.FORBID
    return None if mark.taints_gpu else Effect.PREFER
