"""What people may order, as changes of the ledger: the only way to order anything."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from remediation.policy.facts.ledger import Breaker, Hold, Ledger, Pause, Release

_MOST_CHARACTERS = 200


class Verb(StrEnum):
    """What may be ordered: the first two of everything, the others of one node."""

    PAUSE = "pause"
    RESUME = "resume"
    HOLD = "hold"
    RELEASE = "release"

    @property
    def of_a_node(self) -> bool:
        """Whether the order names a node."""
        return self in {Verb.HOLD, Verb.RELEASE}

    @property
    def done(self) -> str:
        """The order, once it was given."""
        return _DONE[self]


_DONE = {
    Verb.PAUSE: "paused",
    Verb.RESUME: "resumed",
    Verb.HOLD: "held",
    Verb.RELEASE: "released",
}


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who asks and why; both are shown to everybody.

    `anyway` means that the node need not be known: it may join later.
    """

    author: str
    reason: str
    anyway: bool = False

    def __post_init__(self) -> None:
        for name in ("author", "reason"):
            if not 0 < len(getattr(self, name).strip()) <= _MOST_CHARACTERS:
                raise ValueError(f"{name} must have 1 to {_MOST_CHARACTERS} characters")


def give(ledger: Ledger, verb: Verb, order: Order, *, node: str, now: float) -> Ledger:
    """Return the ledger with the order in it; giving it twice is giving it once."""
    author, reason = order.author.strip(), order.reason.strip()
    match verb:
        case Verb.PAUSE:
            return replace(ledger, pause=Pause(author=author, reason=reason, since=now))
        case Verb.RESUME:
            # Somebody looked and says go on: the breaker is armed again, too.
            return replace(ledger, pause=None, breaker=Breaker())
        case Verb.HOLD:
            hold = Hold(author=author, reason=f"{author}: {reason}", since=now)
            without = {n: one for n, one in ledger.releases.items() if n != node}
            return replace(ledger, holds={**ledger.holds, node: hold}, releases=without)
        case Verb.RELEASE:
            release = Release(author=author, reason=reason, since=now)
            holds = {n: one for n, one in ledger.holds.items() if n != node}
            return replace(ledger, holds=holds, releases={**ledger.releases, node: release})
