"""What an alert asks for, and whether it still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards.evidence import judge

if TYPE_CHECKING:
    from remediation.policy.episodes.episode import Episode
    from remediation.policy.facts.ledger import Suspect
    from remediation.policy.facts.snapshot import Snapshot

Verdict = tuple["Suspect | None", Refusal]
"""The worst suspect that has evidence, or None and why the worst one has none."""


def wanted(suspect: Suspect, snapshot: Snapshot) -> Rung:
    """Return the rung that a suspect asks for, whatever the mode."""
    return snapshot.policy.wanted(suspect.severity, suspect.remedy, suspect.cause)


def justified(episode: Episode, snapshot: Snapshot) -> Verdict:
    """Return the worst suspect that has evidence, or the worst one's refusal."""
    first = Refusal(Reason.NOT_FIRING, "nothing about the node is suspect")
    for number, (key, suspect) in enumerate(episode.suspects):
        if wanted(suspect, snapshot) is Rung.OBSERVE:
            refusal: Refusal | None = Refusal(
                Reason.RECORD_ONLY, "the alert or its cause is for the record only"
            )
        else:
            refusal = judge(suspect, key, snapshot.evidence, snapshot.policy.evidence)
        if refusal is None:
            return suspect, first
        first = refusal if number == 0 else first
    return None, first
