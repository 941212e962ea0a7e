"""R21: an alert that resolves and fires again is one episode and one rest."""

from __future__ import annotations

from remediation.policy.facts.mark import MarkState
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, NodeWrite
from tests.remediation.builders import (
    NOW,
    a_node,
    a_pool,
    a_snapshot,
    a_suspect_snapshot,
    an_alert,
    calm,
    proof,
)


def written(step: object, ledger: object, **changes: object) -> dict[str, object]:
    """The world after one write."""
    assert isinstance(step, NodeWrite)
    node = a_node(mark=step.mark, unschedulable=True, taints=step.taints)
    return {"nodes": a_pool(10, node), "ledger": ledger, **changes}


def test_r21_resolved_and_firing_again_opens_no_second_episode_and_no_rest() -> None:
    first = plan(a_suspect_snapshot())
    (step,) = first.steps
    quiet = a_snapshot(**written(step, first.ledger, evidence=calm("n1"), now=NOW + 60))
    second = plan(quiet)
    (verify,) = second.steps
    assert isinstance(verify, NodeWrite)
    assert verify.mark is not None
    assert verify.mark.state is MarkState.VERIFYING
    again = a_snapshot(**written(verify, second.ledger, evidence=proof(an_alert()), now=NOW + 120))
    third = plan(again)
    (relapse,) = third.steps
    assert isinstance(relapse, NodeWrite)
    assert relapse.mark is not None
    assert step.mark is not None
    assert relapse.decision is Decision.RELAPSE
    assert relapse.mark.episode == step.mark.episode
    assert relapse.mark.grant == step.mark.grant
    assert third.ledger.past == {}
    assert len(third.ledger.breaker.window) == 1
