"""What is done before work leaves: a checkpoint is asked for, its volumes get a restore point.

Both go the same way: recorded under a name before anything is asked, asked
again under the same name until all parts have answered or the time is up, and
good for a while.  What comes after a failure depends on how near the end is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remediation.policy.facts.ledger import Ending, Preparation
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.facts.snapshot import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.bounds.migration import MigrationBar
    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.snapshot import Snapshot


class Kind(StrEnum):
    """What is prepared; also the field of the ledger."""

    CHECKPOINT = "checkpoints"
    VOLUMES = "restore_points"


DONE_ANNOTATION = "forewarn.dev/checkpoint-done"
REQUESTED_ANNOTATION = "forewarn.dev/checkpoint-requested"
# How the parts of a preparation that are claims begin; the others are uids of pods.
CLAIM = "claim/"

_OVER = frozenset({Part.DONE, Part.UNSUPPORTED})
# A part that noted what it was asked needs no reminder; others are asked at each look.
_QUIET = frozenset({*_OVER, Part.HEARD})


@dataclass(frozen=True, slots=True)
class _Rules:
    """What differs between the two."""

    busy: Reason
    pending: Reason
    failed: Reason
    words: str


_RULES = {
    Kind.CHECKPOINT: _Rules(
        Reason.CHECKPOINTS, Reason.CHECKPOINT_PENDING, Reason.CHECKPOINT_FAILED, "checkpoint"
    ),
    Kind.VOLUMES: _Rules(
        Reason.SNAPSHOTS, Reason.SNAPSHOT_PENDING, Reason.SNAPSHOT_FAILED, "volume snapshot"
    ),
}


def prepare(
    kind: Kind, job: Job, parts: Iterable[str], nodes: Iterable[str], snapshot: Snapshot
) -> Preparation | Refusal | None:
    """Return what to ask under, why to wait, or None when work may leave.

    `parts` name what must answer; none of them means nothing to prepare.
    """
    parts, rules = tuple(sorted(parts)), _RULES[kind]
    if not parts:
        return None
    held = held_of(kind, snapshot.ledger).get(job.key)
    if held is None or _is_over(held, snapshot):
        return _asked_anew(kind, job, parts, snapshot)
    if held.ended_at is None:
        heard = _heard(held, snapshot)
        missing = [part for part in held.parts if heard.get(part) not in _QUIET]
        waiting = Refusal(rules.pending, f"the {rules.words} of {job} is under way")
        return held if missing else waiting
    if held.ending is Ending.GOOD or _urgent(nodes, snapshot):
        return None
    words = f"no {rules.words} of {job} was made in time, and there is time to try again"
    return Refusal(rules.failed, words)


def record(kind: Kind, ledger: Ledger, job: Job, preparation: Preparation) -> Ledger:
    """Return the ledger with `preparation` in it."""
    after = {**held_of(kind, ledger), job.key: preparation}
    return _with(kind, ledger, after)


def upkeep(kind: Kind, ledger: Ledger, snapshot: Snapshot) -> Ledger:
    """Return the ledger with ended preparations ended, and those that nobody needs forgotten."""
    held = held_of(kind, ledger)
    if not held:
        return ledger
    after = {key: _followed(kind, one, snapshot) for key, one in held.items()}
    kept = {key: one for key, one in after.items() if not _is_over(one, snapshot)}
    return _with(kind, ledger, kept)


def held_of(kind: Kind, ledger: Ledger) -> Mapping[str, Preparation]:
    """Return the preparations of one kind, by job."""
    return ledger.checkpoints if kind is Kind.CHECKPOINT else ledger.restore_points


def in_flight(kind: Kind, ledger: Ledger) -> int:
    """Return how many preparations of one kind are under way."""
    return sum(one.ended_at is None for one in held_of(kind, ledger).values())


def _with(kind: Kind, ledger: Ledger, after: dict[str, Preparation]) -> Ledger:
    if kind is Kind.CHECKPOINT:
        return replace(ledger, checkpoints=after)
    return replace(ledger, restore_points=after)


def _asked_anew(
    kind: Kind, job: Job, parts: tuple[str, ...], snapshot: Snapshot
) -> Preparation | Refusal:
    limits, rules = snapshot.policy.limits, _RULES[kind]
    allowed = limits.checkpoints if kind is Kind.CHECKPOINT else limits.snapshots
    if in_flight(kind, snapshot.ledger) >= allowed:
        return Refusal(rules.busy, f"{allowed} {rules.words}s are under way already")
    name = f"{job.name}.{round(snapshot.now * 1000):x}".replace("/", ".")
    return Preparation(id=name, parts=parts, asked_at=snapshot.now)


def _is_over(held: Preparation, snapshot: Snapshot) -> bool:
    """Return whether it no longer counts: a good one grew old, a bad one may be tried again."""
    if held.ended_at is None:
        return False
    bar = snapshot.policy.migrate
    good = held.ending is Ending.GOOD
    return snapshot.now - held.ended_at >= (bar.fresh_seconds if good else bar.again_seconds)


def _followed(kind: Kind, held: Preparation, snapshot: Snapshot) -> Preparation:
    now, bar = snapshot.now, snapshot.policy.migrate
    if held.ended_at is not None:
        return replace(held, ended_at=min(held.ended_at, now))
    heard = _heard(held, snapshot)
    if all(heard.get(part) in _OVER for part in held.parts):
        return replace(held, ended_at=now, ending=Ending.GOOD)
    if not 0 <= now - held.asked_at < _deadline(kind, bar):
        return replace(held, ended_at=now, ending=Ending.TIMEOUT)
    return held


def _deadline(kind: Kind, bar: MigrationBar) -> float:
    return bar.checkpoint_seconds if kind is Kind.CHECKPOINT else bar.snapshot_seconds


def _heard(held: Preparation, snapshot: Snapshot) -> Mapping[str, Part]:
    """Return what every part has answered, those that have not left out.

    Pods answer in their annotations or to a question, claims to a question; a
    pod that is gone has nothing left to save.
    """
    pods = {pod.uid: pod for pods in snapshot.pods.values() for pod in pods}
    heard = {
        part: answer
        for part in held.parts
        if (answer := snapshot.answers.get(f"{held.id}/{part}")) is not None
    }
    for part in held.parts:
        if part.startswith(CLAIM):
            continue
        pod = pods.get(part)
        if pod is None or pod.notes.get(DONE_ANNOTATION) == held.id:
            heard[part] = Part.DONE
        elif pod.notes.get(REQUESTED_ANNOTATION) == held.id:
            heard[part] = Part.HEARD
    return heard


def _urgent(nodes: Iterable[str], snapshot: Snapshot) -> bool:
    """Return whether the failure is so near that work leaves unprepared."""
    names = frozenset(nodes)
    urgent = frozenset(snapshot.policy.migrate.urgent_horizons)
    suspects = snapshot.ledger.suspects.values()
    return any(one.node in names and one.horizon in urgent for one in suspects)
