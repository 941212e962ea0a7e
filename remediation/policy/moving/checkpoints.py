"""Asking a job to save its work before it is moved: all ranks at once, before any of them ends.

A pod says how it wants to be asked.  `annotate`: we note the request on it and
it notes its answer.  `http`: we post to a port of the pod itself; no name is
looked up, so that nobody can point us at somebody else.
"""

from __future__ import annotations

import ipaddress
import re
from enum import StrEnum
from typing import TYPE_CHECKING

from remediation.policy.facts.jobs import Bond, job_of
from remediation.policy.facts.refusal import Refusal
from remediation.policy.moving.preparing import Kind, prepare, record
from remediation.policy.steps import AskCheckpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot

CHECKPOINT_ANNOTATION = "forewarn.dev/checkpoint"
HTTP_ANNOTATION = "forewarn.dev/checkpoint-http"
# A port, and a path without anything that could change what the URL means.
_HOOK = re.compile(r"(?P<port>[1-9][0-9]{0,4})(?P<path>(/[A-Za-z0-9._~-]+)*)\Z")


class Way(StrEnum):
    """How a pod wants to be asked."""

    ANNOTATE = "annotate"
    HTTP = "http"


def way_of(pod: Pod) -> Way | None:
    """Return how `pod` wants to be asked, None when it does not or says it in unknown words."""
    wish = pod.notes.get(CHECKPOINT_ANNOTATION, "")
    return Way(wish) if wish in set(Way) else None


def before(
    job: Job, going: Mapping[str, tuple[Pod, ...]], snapshot: Snapshot
) -> Refusal | tuple[AskCheckpoint, Callable[[Ledger], Ledger]] | None:
    """Return what to ask before `going` (by node) may leave, why to wait, or None to go on."""
    pods = [pod for pod in _concerned(job, going, snapshot) if way_of(pod) is not None]
    found = prepare(Kind.CHECKPOINT, job, (pod.uid for pod in pods), going, snapshot)
    if found is None or isinstance(found, Refusal):
        return found
    step = AskCheckpoint(
        id=found.id,
        nodes=tuple(snapshot.nodes[name] for name in sorted(going)),
        pods=tuple(pod for pod in pods if pod.uid in found.parts),
        first=found.asked_at == snapshot.now,
        sentence=f"{', '.join(sorted(going))}: {job} is asked to save its work",
    )
    return step, lambda ledger: record(Kind.CHECKPOINT, ledger, job, found)


def hook_url(pod: Pod) -> str | None:
    """Return where `pod` wants to be asked, or None when that is not a port of its own.

    On the machine's own network a port may be anybody's, and addresses that are
    not those of a pod (loopback, link-local, multicast) are never asked.
    """
    match = _HOOK.match(pod.notes.get(HTTP_ANNOTATION, ""))
    if match is None or int(match["port"]) > 65535 or pod.host_network:
        return None
    try:
        address = ipaddress.ip_address(pod.address)
    except ValueError:
        return None
    host = f"[{address}]" if address.version == 6 else str(address)
    return f"http://{host}:{match['port']}{match['path']}" if is_of_a_pod(address) else None


def is_of_a_pod(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether a pod can have `address` to itself."""
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        return is_of_a_pod(mapped)
    odd = address.is_loopback or address.is_link_local or address.is_multicast
    return not (odd or address.is_unspecified or address.is_reserved)


def _concerned(
    job: Job, going: Mapping[str, tuple[Pod, ...]], snapshot: Snapshot
) -> tuple[Pod, ...]:
    """Return who must save: all ranks of a gang wherever they run, else only who leaves."""
    if job.bond is not Bond.GANG:
        return tuple(pod for pods in going.values() for pod in pods)
    labels = snapshot.policy.migrate.job_labels
    return tuple(
        pod
        for pods in snapshot.pods.values()
        for pod in pods
        if not pod.finished and pod.ends_at is None and job_of(pod, labels).key == job.key
    )
