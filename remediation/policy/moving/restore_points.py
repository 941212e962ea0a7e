"""A restore point of the volumes that leave with a pod: snapshots, ready before anything ends.

The pod keeps its volumes; the snapshots are for the case that the move goes wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.migration import Snapshots
from remediation.policy.facts.refusal import Refusal
from remediation.policy.moving.preparing import CLAIM, Kind, prepare, record
from remediation.policy.steps import TakeSnapshots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot

SNAPSHOT_ANNOTATION = "forewarn.dev/snapshot"


def before(
    job: Job, going: Mapping[str, tuple[Pod, ...]], snapshot: Snapshot
) -> Refusal | tuple[TakeSnapshots, Callable[[Ledger], Ledger]] | None:
    """Return what to take before `going` (by node) may leave, why to wait, or None to go on."""
    wish = snapshot.policy.migrate.volume_snapshots
    claims = {
        f"{CLAIM}{claim}"
        for pods in going.values()
        for pod in pods
        for claim in pod.claims
        if _wanted(pod, wish)
    }
    found = prepare(Kind.VOLUMES, job, claims, going, snapshot)
    if found is None or isinstance(found, Refusal):
        return found
    step = TakeSnapshots(
        id=found.id,
        nodes=tuple(snapshot.nodes[name] for name in sorted(going)),
        namespace=job.namespace,
        claims=tuple(part.removeprefix(CLAIM) for part in found.parts),
        snapshot_class=snapshot.policy.migrate.snapshot_class,
        first=found.asked_at == snapshot.now,
        sentence=f"{', '.join(sorted(going))}: the volumes of {job} are snapshotted",
    )
    return step, lambda ledger: record(Kind.VOLUMES, ledger, job, found)


def _wanted(pod: Pod, wish: Snapshots) -> bool:
    asked = wish is Snapshots.ANNOTATED and pod.notes.get(SNAPSHOT_ANNOTATION) == "true"
    return asked or wish is Snapshots.ALWAYS
