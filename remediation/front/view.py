"""What the status page shows, made of the last tick's status: grouped, counted, explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remediation.front.advice import ADVICE
from remediation.policy.steps import EpisodeState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remediation.policy.steps import Finding
    from remediation.report import Status

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))

SECTIONS: dict[EpisodeState, str] = {
    EpisodeState.MIGRATING: "In flight",
    EpisodeState.CHECKPOINTING: "In flight",
    EpisodeState.SNAPSHOTTING: "In flight",
    EpisodeState.BLOCKED: "In flight",
    EpisodeState.FACILITY: "In facility events",
    EpisodeState.EXCLUDED: "Out of service",
    EpisodeState.DRAINED: "Out of service",
    EpisodeState.HANDED_OVER: "Out of service",
    EpisodeState.ELEVATED: "At elevated risk",
    EpisodeState.VERIFYING: "Coming back",
    EpisodeState.PROBATION: "Coming back",
    EpisodeState.HELD: "Held by people",
}
"""Where an episode is shown; the others wait, and are grouped by what they wait for."""

ORDER = (
    "In flight",
    "In facility events",
    "Out of service",
    "At elevated risk",
    "Coming back",
    "Held by people",
)


@dataclass(frozen=True, slots=True)
class Section:
    """Episodes that stand alike, one a row."""

    title: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """Episodes that wait for the same thing."""

    reason: str
    words: str
    advice: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """One decision and how long ago it was told."""

    ago: str
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The page's content beside the status itself."""

    sections: tuple[Section, ...]
    queues: tuple[Queue, ...]
    waiting: int
    decisions: tuple[Telling, ...]
    looked: str


def look(status: Status, now: float) -> View:
    """Group `status` for people; `now` is Unix seconds."""
    queues = _queues([one for one in status.findings if one.state not in SECTIONS])
    return View(
        sections=_sections(status.findings),
        queues=queues,
        waiting=sum(len(queue.nodes) for queue in queues),
        decisions=tuple(Telling(ago(now - told.at), told.finding) for told in status.decisions),
        looked=ago(now - status.ended_at),
    )


def ago(seconds: float) -> str:
    """Say an age as people do, in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{max(0.0, seconds):.0f} s ago"


def advice(finding: Finding) -> str:
    """Say what ends the wait, "" when nothing is waited for."""
    return ADVICE.get(finding.refusal.reason, "") if finding.refusal is not None else ""


def _sections(findings: Sequence[Finding]) -> tuple[Section, ...]:
    found = {
        title: tuple(one for one in findings if SECTIONS.get(one.state) == title) for title in ORDER
    }
    return tuple(Section(title, rows) for title, rows in found.items() if rows)


def _queues(findings: Sequence[Finding]) -> tuple[Queue, ...]:
    """Group what waits, the longest queue first; the order within is that of urgency."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        refusal = finding.refusal
        key = (refusal.reason.value, refusal.words) if refusal else (finding.decision.value, "")
        groups.setdefault(key, []).append(finding)
    queues = [
        Queue(reason, words, advice(found[0]), tuple(one.node for one in found))
        for (reason, words), found in groups.items()
    ]
    return tuple(sorted(queues, key=lambda queue: -len(queue.nodes)))
