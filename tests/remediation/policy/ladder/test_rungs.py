"""The rung taken is the lowest of mode, severity, label and cause."""

from __future__ import annotations

import pytest

from remediation.alert import Remedy, Severity
from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.refusal import Reason
from remediation.policy.facts.taint import Effect
from remediation.policy.plan import plan
from remediation.policy.steps import Decision, EpisodeState, NodeWrite
from tests.remediation.builders import (
    a_policy,
    a_suspect_snapshot,
    an_alert,
    finding_of,
    only_finding,
)


def test_a_critical_alert_cordons_and_taints_in_one_write() -> None:
    decided = plan(a_suspect_snapshot())
    (step,) = decided.steps
    assert isinstance(step, NodeWrite)
    assert (step.decision, step.unschedulable, step.effect) == (
        Decision.EXCLUDE,
        True,
        Effect.FORBID,
    )
    assert step.mark is not None
    assert step.mark.grant == decided.ledger.grants["n1"].id
    assert step.mark.prior_unschedulable is False


def test_a_warning_only_asks_new_work_to_prefer_other_nodes() -> None:
    decided = plan(a_suspect_snapshot(an_alert(severity=Severity.WARNING)))
    (step,) = decided.steps
    assert isinstance(step, NodeWrite)
    assert (step.unschedulable, step.effect) == (None, Effect.PREFER)
    assert decided.ledger.grants["n1"].rung is Rung.SOFTEN


def test_observe_says_what_it_would_do_and_records_and_does_nothing() -> None:
    snapshot = a_suspect_snapshot(policy=a_policy(Mode.OBSERVE))
    decided = plan(snapshot)
    finding = finding_of(decided)
    assert decided.steps == ()
    assert decided.ledger.grants == {}
    assert decided.ledger.breaker.window == ()
    assert finding.only_observed
    assert finding.decision is Decision.EXCLUDE
    assert finding.sentence == (
        "would act: n1 is cordoned and tainted: critical ForewarnNodeFailureLikely "
        "(memory within 24h); the mode is observe"
    )


def test_observe_counts_what_it_would_have_granted_against_the_limits() -> None:
    alerts = [an_alert(f"n{number}") for number in range(1, 4)]
    limits = a_policy().limits.__class__(concurrency=2, unavailable_percent=100, domains=())
    snapshot = a_suspect_snapshot(*alerts, policy=a_policy(Mode.OBSERVE, limits=limits))
    decided = plan(snapshot)
    assert [finding.only_observed for finding in decided.findings] == [True, True, False]
    assert decided.findings[2].refusal is not None
    assert decided.findings[2].refusal.reason is Reason.CONCURRENCY
    assert decided.ledger.grants == {}


@pytest.mark.parametrize(
    ("mode", "severity", "remedy", "rung"),
    [
        (Mode.EXCLUDE, Severity.CRITICAL, Remedy.MIGRATE, Rung.EXCLUDE),
        (Mode.MIGRATE, Severity.CRITICAL, Remedy.EXCLUDE, Rung.EXCLUDE),
        (Mode.MIGRATE, Severity.CRITICAL, Remedy.MIGRATE, Rung.MIGRATE),
        (Mode.MIGRATE, Severity.WARNING, Remedy.MIGRATE, Rung.SOFTEN),
        (Mode.EXCLUDE, Severity.WARNING, Remedy.EXCLUDE, Rung.SOFTEN),
    ],
)
def test_the_lowest_bound_decides(
    mode: Mode, severity: Severity, remedy: Remedy, rung: Rung
) -> None:
    alert = an_alert(severity=severity, remedy=remedy)
    decided = plan(a_suspect_snapshot(alert, policy=a_policy(mode)))
    assert decided.ledger.grants["n1"].rung is rung


@pytest.mark.parametrize(
    ("alert", "ceilings"),
    [
        pytest.param(an_alert(severity=Severity.INFO), {}, id="info"),
        pytest.param(an_alert(remedy=Remedy.FACILITY), {}, id="facility"),
        pytest.param(an_alert(), {"memory": Mode.OBSERVE}, id="cause-only-observed"),
    ],
)
def test_some_alerts_are_only_for_the_record(alert: object, ceilings: dict[str, Mode]) -> None:
    snapshot = a_suspect_snapshot(alert, policy=a_policy(ceilings=ceilings))  # type: ignore[arg-type]
    finding = only_finding(snapshot)
    assert finding.refusal is not None
    assert finding.refusal.reason is Reason.RECORD_ONLY
    assert finding.state is EpisodeState.DEFERRED


def test_the_nearer_horizon_goes_first() -> None:
    far, near = an_alert("n1", horizon="72h"), an_alert("n2", horizon="1h")
    decided = plan(a_suspect_snapshot(far, near))
    assert [finding.node for finding in decided.findings] == ["n2", "n1"]


def test_a_worse_alert_climbs_from_the_soft_taint_to_exclusion() -> None:
    from remediation.policy.facts.mark import MarkState
    from tests.remediation.builders import a_mark, a_node, a_pool

    mark = a_mark(state=MarkState.ELEVATED, rung=Rung.SOFTEN, cordoned=False)
    snapshot = a_suspect_snapshot(nodes=a_pool(10, a_node(mark=mark)))
    (step,) = plan(snapshot).steps
    assert isinstance(step, NodeWrite)
    assert step.decision is Decision.EXCLUDE
    assert step.mark is not None
    assert step.mark.episode == mark.episode
    assert step.mark.grant != mark.grant
