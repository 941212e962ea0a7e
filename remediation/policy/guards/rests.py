"""Rest: a node whose episode is over is left alone for a while, and one that flaps for a person.

A failing guard must not be able to move the same work again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.facts.ledger import Past
from remediation.policy.facts.refusal import Reason, Refusal

if TYPE_CHECKING:
    from remediation.policy.bounds.limits import Limits
    from remediation.policy.facts.ledger import Ledger


def over(ledger: Ledger, node: str, episode: str, now: float) -> Ledger:
    """Record that an episode that took the node away is over; telling it twice is telling once."""
    others = tuple(past for past in ledger.past.get(node, ()) if past.episode != episode)
    return replace(
        ledger, past={**ledger.past, node: (*others, Past(episode=episode, ended_at=now))}
    )


def returned(ledger: Ledger, node: str, episode: str, soak: float, now: float) -> Ledger:
    """Count a return on probation after the soak that began at `soak` (Unix seconds)."""
    name = f"{episode}@{soak:.0f}"
    others = tuple(past for past in ledger.past.get(node, ()) if past.episode != name)
    back = Past(episode=name, ended_at=now, rests=False)
    return replace(ledger, past={**ledger.past, node: (*others, back)})


def resting(ledger: Ledger, node: str, limits: Limits, now: float) -> Refusal | None:
    """Return why `node` must not be taken away again yet, or None."""
    found = ledger.past.get(node, ())
    recent = [past for past in found if now - past.ended_at < limits.flap_window_seconds]
    if len(recent) >= limits.flap_episodes:
        words = (
            f"it came back {len(recent)} times within {limits.flap_window_seconds:g} s:"
            " the node flaps, a person must look"
        )
        return Refusal(Reason.FLAPPING, words)
    if any(p.rests and now - p.ended_at < limits.node_cooldown_seconds for p in found):
        words = f"its last episode ended less than {limits.node_cooldown_seconds:g} s ago"
        return Refusal(Reason.NODE_COOLDOWN, words)
    return None


def upkeep(ledger: Ledger, limits: Limits, now: float) -> Ledger:
    """Forget what no guard asks for any more; an end in the future is a clock that jumped back."""
    kept = max(limits.flap_window_seconds, limits.node_cooldown_seconds)
    past = {
        node: tuple(
            replace(one, ended_at=min(one.ended_at, now))
            for one in ended
            if now - one.ended_at < kept
        )
        for node, ended in ledger.past.items()
    }
    return replace(ledger, past={node: ended for node, ended in past.items() if ended})
