"""The guards that look at the whole scene before a grant; the counted ones are in the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards.distress import distress
from remediation.policy.guards.facility import concerned
from remediation.policy.guards.rests import resting
from remediation.policy.guards.use import predicted_limit
from remediation.policy.guards.windows import closed

if TYPE_CHECKING:
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot


def before_grant(
    node: Node,
    rung: Rung,
    snapshot: Snapshot,
    *,
    doubt: Refusal | None,
    trouble: Refusal | None,
) -> Refusal | None:
    """Return why no grant of `rung` may be made for `node` now, or None.

    `doubt` is that of the model, `trouble` why no work may be disturbed.  A soft
    taint takes nothing away: only the doubt holds it.
    """
    if rung is Rung.SOFTEN:
        return doubt
    taken = node.mark is not None and node.mark.takes
    limits = snapshot.policy.limits
    rest = None if taken else resting(snapshot.ledger, node.name, limits, snapshot.now)
    return rest or trouble


def before_wave(snapshot: Snapshot) -> Refusal | None:
    """Return why no work may be disturbed now, or None; the same for all of one tick."""
    windows = snapshot.policy.maintenance_windows
    return model_fault(snapshot) or distress(snapshot) or closed(windows, snapshot.now)


def model_fault(snapshot: Snapshot) -> Refusal | None:
    """Return that too many nodes are predicted to fail at once: models fail more than fleets do."""
    policy = snapshot.policy
    # What ails a whole domain is accounted for: it speaks for the model, not against it.
    accounted = concerned(snapshot.nodes, snapshot.ledger, policy.limits)
    suspects = {
        suspect.node
        for suspect in snapshot.ledger.suspects.values()
        if suspect.node in snapshot.nodes
        and suspect.node not in accounted
        and policy.wanted(suspect.severity, suspect.remedy, suspect.cause) is not Rung.OBSERVE
    }
    allowed = predicted_limit(policy.limits, len(snapshot.nodes))
    if len(suspects) <= allowed:
        return None
    words = f"more than {allowed} nodes are predicted to fail at once: the model is doubted"
    return Refusal(Reason.MODEL_FAULT, words)
