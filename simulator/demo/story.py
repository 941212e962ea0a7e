"""What has to happen, in which order, and how to say it (pure).

Observations come in, sentences come out.  The story is complete when every
beat was seen in order and the work had left before the failure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

CLIMBS = (0.1, 0.25, 0.5, 0.75, 0.9)


class Beat(StrEnum):
    """The beats of the story, in the order in which they must come."""

    WATCHING = "watching"
    CLIMBING = "climbing"
    ALERTED = "alerted"
    EXCLUDED = "excluded"
    MOVED = "moved"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at everything, `at_seconds` of simulated time after the start.

    `would` is what remediation says that it would do, where it only observes.
    """

    at_seconds: float
    states: dict[str, str]
    probability: float | None
    cause: str
    signals: tuple[str, ...]
    alerts: tuple[str, ...]
    cordoned: tuple[str, ...]
    reason: str
    pods_on_failing: int
    pods_running: int
    failed: bool
    would: str = ""


@dataclass(slots=True)
class Story:
    """Follows one failing node among `nodes` and tells each beat once."""

    failing: str
    nodes: tuple[str, ...]
    pods: int
    seen: dict[Beat, float] = field(default_factory=dict)
    highest: float = 0.0
    strangers: set[str] = field(default_factory=set)
    would: str = ""

    def follow(self, look: Observation) -> list[str]:
        """Return the sentences that this observation adds."""
        told = [
            *self._watching(look), *self._climbing(look), *self._alerted(look),
            *self._judged(look), *self._excluded(look), *self._moved(look), *self._failed(look),
        ]  # fmt: skip
        self.strangers |= set(look.cordoned) - {self.failing}
        return told

    @property
    def over(self) -> bool:
        """Whether the failure has come, with or without a happy end."""
        return Beat.FAILED in self.seen

    @property
    def watched(self) -> bool:
        """Whether every node was predicted at some moment."""
        return Beat.WATCHING in self.seen

    @property
    def excluded(self) -> bool:
        """Whether the node of the story was cordoned."""
        return Beat.EXCLUDED in self.seen

    def faults(self) -> list[str]:
        """Return what is missing or wrong; empty when the story happened."""
        missing = [f"never seen: {beat}" for beat in Beat if beat not in self.seen]
        order = [self.seen[beat] for beat in Beat if beat in self.seen]
        late = ["beats came out of order"] if order != sorted(order) else []
        wrong = [f"{node} was healthy and was cordoned" for node in sorted(self.strangers)]
        return missing + late + wrong

    def faults_observed(self) -> list[str]:
        """Return what is missing or wrong where nothing was to be done but to say what would be."""
        wanted = [beat for beat in Beat if beat not in (Beat.EXCLUDED, Beat.MOVED)]
        missing = [f"never seen: {beat}" for beat in wanted if beat not in self.seen]
        silent = [] if self.would else ["remediation never said what it would do"]
        touched = sorted(self.strangers | ({self.failing} if self.excluded else set()))
        return missing + silent + [f"{node} was cordoned, in mode observe" for node in touched]

    def lead_seconds(self) -> float | None:
        """Return how long before the failure the last work had left, in simulated seconds."""
        if not {Beat.MOVED, Beat.FAILED} <= self.seen.keys():
            return None
        return self.seen[Beat.FAILED] - self.seen[Beat.MOVED]

    def _once(self, beat: Beat, look: Observation, *, happened: bool) -> bool:
        if beat in self.seen or not happened:
            return False
        self.seen[beat] = look.at_seconds
        return True

    def _watching(self, look: Observation) -> list[str]:
        ready = all(look.states.get(node) in ("ok", "degraded") for node in self.nodes)
        if not self._once(Beat.WATCHING, look, happened=ready):
            return []
        return [f"All {len(self.nodes)} nodes have a filled window and a valid prediction."]

    def _climbing(self, look: Observation) -> list[str]:
        if look.probability is None:
            return []
        crossed = [level for level in CLIMBS if self.highest < level <= look.probability]
        self.highest = max(self.highest, look.probability)
        if not crossed:
            return []
        self.seen.setdefault(Beat.CLIMBING, look.at_seconds)
        because = f", cause {look.cause}" if look.cause else ""
        signs = f" ({', '.join(look.signals)})" if look.signals else ""
        return [
            f"{self.failing}: probability of failure within 24 h is now "
            f"{look.probability:.0%}{because}{signs}."
        ]

    def _alerted(self, look: Observation) -> list[str]:
        if not self._once(Beat.ALERTED, look, happened=bool(look.alerts)):
            return []
        return [f"{self.failing}: Prometheus fires {', '.join(sorted(set(look.alerts)))}."]

    def _judged(self, look: Observation) -> list[str]:
        if look.would in ("", self.would):
            return []
        self.would = look.would
        return [f"{self.failing}: remediation {look.would}."]

    def _excluded(self, look: Observation) -> list[str]:
        if not self._once(Beat.EXCLUDED, look, happened=self.failing in look.cordoned):
            return []
        return [f"{self.failing}: excluded, no new work lands on it. {look.reason}".rstrip()]

    def _moved(self, look: Observation) -> list[str]:
        moved = (
            Beat.EXCLUDED in self.seen
            and look.pods_on_failing == 0
            and look.pods_running == self.pods
        )
        if not self._once(Beat.MOVED, look, happened=moved):
            return []
        return [f"{self.failing}: its work runs elsewhere, {look.pods_running} pods in all."]

    def _failed(self, look: Observation) -> list[str]:
        if not self._once(Beat.FAILED, look, happened=look.failed):
            return []
        return [f"{self.failing}: the hardware has failed."]
