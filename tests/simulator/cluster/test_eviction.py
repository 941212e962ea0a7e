from __future__ import annotations

import pytest

from simulator.cluster.eviction import budget_to_charge
from simulator.cluster.refusals import Refused


def _pod(*, ready=True, phase="Running"):
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": "work-0", "namespace": "team", "labels": {"app": "work"}},
        "status": {"phase": phase, "conditions": conditions},
    }


def _budget(*, observed=1, healthy=1, desired=1, allowed=0, **spec):
    status = {
        "observedGeneration": observed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
    }
    return {
        "metadata": {"name": "budget", "namespace": "team", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "work"}}, **spec},
        "status": status,
    }


def test_a_budget_that_was_not_yet_looked_at_asks_for_ten_seconds():
    with pytest.raises(Refused) as caught:
        budget_to_charge(_pod(), [_budget(observed=0, allowed=1)])
    assert caught.value.code == 429
    assert caught.value.status["details"]["retryAfterSeconds"] == 10
    assert caught.value.status["details"]["causes"][0]["reason"] == "DisruptionBudget"


def test_a_pod_that_is_not_ready_is_blocked_while_its_budget_is_short():
    with pytest.raises(Refused):
        budget_to_charge(_pod(ready=False), [_budget(healthy=0, desired=1)])


def test_a_pod_that_is_not_ready_may_go_when_the_budget_is_met_or_says_always():
    assert budget_to_charge(_pod(ready=False), [_budget(healthy=1, desired=1)]) is None
    always = _budget(healthy=0, desired=1, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert budget_to_charge(_pod(ready=False), [always]) is None


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_does_no_work_is_outside_budgets(phase):
    assert budget_to_charge(_pod(phase=phase), [_budget()]) is None


def test_the_budget_that_can_pay_is_charged():
    budget = _budget(healthy=2, allowed=1)
    assert budget_to_charge(_pod(), [budget]) is budget
