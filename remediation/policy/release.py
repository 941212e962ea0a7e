"""Coming back: resolved is not healthy, so a node must show it for a whole soak.

Recovery stays open while new harm is stopped: pause and breaker do not hold a
release back, missing evidence does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.evidence import probability, standing
from remediation.policy.refusal import Reason, Refusal
from remediation.policy.snapshot import MarkState

if TYPE_CHECKING:
    from remediation.policy.evidence import Evidence
    from remediation.policy.ledger import Ledger
    from remediation.policy.limits import Policy, ReleaseBar
    from remediation.policy.snapshot import Mark, Node

# These say that the node is not well; the others, that it could not be told.
RELAPSES = frozenset({Reason.STILL_FIRING, Reason.NODE_LOST, Reason.PROBABILITY_HIGH})


def well(node: Node, mark: Mark, evidence: Evidence, policy: Policy) -> Refusal | None:
    """Return why `node` does not look well now, or None: Ready, quiet, fresh and low."""
    if evidence.alerts is None:
        return Refusal(Reason.ALERTS_UNREADABLE, "Alertmanager could not be read")
    # A silenced alert still holds: a person quieted it, the node did not get better.
    if any(alert.node == node.name for alert in evidence.alerts):
        return Refusal(Reason.STILL_FIRING, "Alertmanager still shows an alert")
    if not node.ready:
        return Refusal(Reason.NODE_LOST, "the node is not ready")
    refusal = standing(node.name, evidence, policy.evidence)
    if refusal is not None:
        return refusal
    value = probability(node.name, mark.horizon, mark.cause, evidence)
    if value is None:
        words = f"no single probability of {mark.cause or 'node'} within {mark.horizon}"
        return Refusal(Reason.PREDICTION_ABSENT, words)
    below = policy.release.probability_below
    if value >= below:
        return Refusal(Reason.PROBABILITY_HIGH, f"the probability is not below {below:g}")
    return None


def soaked(node: Node, mark: Mark, bar: ReleaseBar, now: float) -> Refusal | None:
    """Return why the soak is not over, or None.  A reboot or a lost Ready starts it anew."""
    if mark.state is not MarkState.VERIFYING:
        return Refusal(Reason.SOAKING, "the soak has not begun")
    start = max(mark.since, node.ready_since or mark.since)
    # A clock that jumped back gives a negative age: the soak is not over.
    if now - start < bar.soak_seconds:
        return Refusal(Reason.SOAKING, f"soaking for {bar.soak_seconds:g} s")
    return None


def staggered(mark: Mark, ledger: Ledger, bar: ReleaseBar, now: float) -> Refusal | None:
    """Return why another release must wait, or None: a herd coming back is ours to prevent."""
    if not mark.cordoned or ledger.released_at is None:
        return None
    if now - ledger.released_at < bar.interval_seconds:
        words = f"one release in {bar.interval_seconds:g} s"
        return Refusal(Reason.RELEASE_INTERVAL, words)
    return None
