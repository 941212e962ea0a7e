"""Which pods belong together: one job is disturbed once, not once per pod.

The order of belief: our own annotation, then a pod group, then the labels of
the controllers that are known, then the owner of the pod's Job, then the pod's
controller, then the pod itself.  Walking up further would need a right for
every kind there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remediation.policy.facts.pod import Pod

GROUP_ANNOTATION = "forewarn.dev/group"
_JOB = "Job"
# Each run of a schedule is a job of its own.
_SCHEDULES = frozenset({"CronJob"})


class Bond(StrEnum):
    """What the pods of a job are to one another.

    A gang is of no use without any of its pods; replicas serve on their own;
    ordered ones do too, and are replaced one at a time by rank.
    """

    GANG = "gang"
    REPLICAS = "replicas"
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """Some pods that are moved as one; `key` is stable for the life of the job."""

    namespace: str
    kind: str
    name: str
    key: str
    bond: Bond = Bond.GANG

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class _Row:
    """One controller's labels: the job's name, a part of it, and its uid where pods carry it."""

    kind: str
    name: str
    part: str = ""
    uid: str = ""


# What pods say of the group that schedules them together.
_POD_GROUPS = (
    "scheduling.k8s.io/group-name",
    "scheduling.x-k8s.io/pod-group",
    "kueue.x-k8s.io/pod-group-name",
)
# Ordered from the outermost controller inwards: a JobSet's pods are pods of Jobs, a group of
# LeaderWorkerSet's are pods of a StatefulSet, and the outer one is what restarts.
_CONTROLLERS = (
    _Row("JobSet", "jobset.sigs.k8s.io/jobset-name", uid="jobset.sigs.k8s.io/jobset-uid"),
    _Row(
        "LeaderWorkerSet",
        "leaderworkerset.sigs.k8s.io/name",
        part="leaderworkerset.sigs.k8s.io/group-index",
        uid="leaderworkerset.sigs.k8s.io/group-key",
    ),
    _Row("KubeflowJob", "training.kubeflow.org/job-name"),
    _Row("RayCluster", "ray.io/cluster"),
    _Row("VolcanoJob", "volcano.sh/job-name"),
    _Row(_JOB, "batch.kubernetes.io/job-name", uid="batch.kubernetes.io/controller-uid"),
)
_TEMPLATE_HASH = "pod-template-hash"


def job_of(pod: Pod, site_labels: tuple[str, ...] = ()) -> Job:
    """Return the job that `pod` is part of; `site_labels` name jobs of the site's own controllers.

    A label of the site goes before those that are known, so that it can correct them.
    """
    group = pod.notes.get(GROUP_ANNOTATION)
    if group:
        return _named(pod, "group", group)
    return _grouped(pod) or _of_site(pod, site_labels) or _known(pod) or _owned(pod)


def needs_owner(pod: Pod) -> bool:
    """Return whether only the owner of the pod's Job could tell what else belongs to it."""
    if not pod.gpus or pod.owner != _JOB or not pod.owner_uid:
        return False
    told = pod.notes.get(GROUP_ANNOTATION) or _grouped(pod)
    return not told and _row(pod) in {None, _CONTROLLERS[-1]}


def rank(pod: Pod) -> int:
    """Return the pod's ordinal in its StatefulSet, -1 when it tells none."""
    text = pod.labels.get("apps.kubernetes.io/pod-index") or pod.name.rpartition("-")[2]
    return int(text) if text.isdecimal() else -1


def _grouped(pod: Pod) -> Job | None:
    if pod.pod_group:
        return _named(pod, "PodGroup", pod.pod_group)
    for name in _POD_GROUPS:
        group = pod.notes.get(name) or pod.labels.get(name)
        if group:
            return _named(pod, "PodGroup", group)
    return None


def _of_site(pod: Pod, site_labels: tuple[str, ...]) -> Job | None:
    label = next((label for label in site_labels if pod.labels.get(label)), None)
    return _named(pod, label, pod.labels[label]) if label is not None else None


def _known(pod: Pod) -> Job | None:
    row = _row(pod)
    if row is None:
        return None
    top = pod.top
    if row.kind == _JOB and top is not None and top.kind not in _SCHEDULES:
        return _named(pod, top.kind, top.name, top.uid)
    part = pod.labels.get(row.part, "") if row.part else ""
    name = f"{pod.labels[row.name]}/{part}" if part else pod.labels[row.name]
    uid = pod.labels.get(row.uid, "") if row.uid else ""
    return _named(pod, row.kind, name, uid)


def _row(pod: Pod) -> _Row | None:
    return next((row for row in _CONTROLLERS if pod.labels.get(row.name)), None)


def _owned(pod: Pod) -> Job:
    if pod.owner is None:
        return _named(pod, "Pod", pod.name, pod.uid, Bond.REPLICAS)
    if pod.owner == "StatefulSet":
        return _named(pod, pod.owner, pod.owner_name, pod.owner_uid, Bond.ORDERED)
    if pod.owner == "ReplicaSet":
        deployment, _, hashed = pod.owner_name.rpartition("-")
        if deployment and hashed == pod.labels.get(_TEMPLATE_HASH):
            # Two ReplicaSets of one Deployment in the middle of a roll-out are one job.
            return _named(pod, "Deployment", deployment, "", Bond.REPLICAS)
        return _named(pod, pod.owner, pod.owner_name, pod.owner_uid, Bond.REPLICAS)
    if pod.owner == _JOB and pod.top is not None and pod.top.kind not in _SCHEDULES:
        return _named(pod, pod.top.kind, pod.top.name, pod.top.uid)
    # What an unknown controller runs may be a gang, and is moved with the care that one needs.
    return _named(pod, pod.owner, pod.owner_name, pod.owner_uid)


def _named(pod: Pod, kind: str, name: str, uid: str = "", bond: Bond = Bond.GANG) -> Job:
    # The uid tells a job from an earlier one of the same name; without one the name must do.
    return Job(pod.namespace, kind, name, uid or f"{pod.namespace}/{kind}/{name}", bond)
