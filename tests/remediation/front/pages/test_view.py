"""What the page shows: every episode once, in flight first, the deferred by what they wait for."""

from __future__ import annotations

import pytest

from remediation.front.advice import ADVICE
from remediation.front.view import ORDER, SECTIONS, ago, look
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.steps import Decision, EpisodeState, Finding
from remediation.report import Status

WAITING = {EpisodeState.DEFERRED, EpisodeState.OBSERVED}


def a_finding(node: str, state: EpisodeState, refusal: Refusal | None = None) -> Finding:
    return Finding(
        node=node, state=state, decision=Decision.WAIT, sentence=f"{node} said", refusal=refusal
    )


def a_status(*findings: Finding) -> Status:
    return Status(
        sentence="said",
        leads=True,
        holder="me",
        mode="exclude",  # type: ignore[arg-type]
        ended_at=100.0,
        ended_monotonic=1.0,
        findings=findings,
    )


def test_every_state_has_its_place() -> None:
    assert set(EpisodeState) == set(SECTIONS) | WAITING
    assert set(SECTIONS.values()) == set(ORDER)


def test_every_reason_has_advice_that_is_a_sentence() -> None:
    assert set(ADVICE) == set(Reason)
    assert all(text.endswith(".") for text in ADVICE.values())


def test_every_episode_is_shown_once() -> None:
    findings = tuple(a_finding(f"n{number}", state) for number, state in enumerate(EpisodeState))
    view = look(a_status(*findings), now=103.0)
    shown = [one.node for section in view.sections for one in section.findings]
    shown += [node for queue in view.queues for node in queue.nodes]
    assert sorted(shown) == sorted(one.node for one in findings)
    assert view.looked == "3 s ago"


def test_what_waits_is_grouped_by_what_it_waits_for_the_longest_queue_first() -> None:
    token = Refusal(Reason.NO_TOKEN, "the token bucket is empty")
    held = Refusal(Reason.POOL_SHARE, "6 of 60 nodes would be unavailable, at most 5")
    view = look(
        a_status(
            a_finding("n1", EpisodeState.DEFERRED, held),
            a_finding("n2", EpisodeState.DEFERRED, token),
            a_finding("n3", EpisodeState.DEFERRED, token),
        ),
        now=100.0,
    )
    assert [(queue.reason, queue.nodes) for queue in view.queues] == [
        ("no_token", ("n2", "n3")),
        ("pool_share", ("n1",)),
    ]
    assert view.waiting == 3
    assert view.queues[0].advice == ADVICE[Reason.NO_TOKEN]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s ago"), (59, "59 s ago"), (60, "1 min ago"), (7300, "2 h ago"), (200_000, "2 d ago")],
)
def test_ages_are_told_in_their_largest_unit(seconds: float, text: str) -> None:
    assert ago(seconds) == text
