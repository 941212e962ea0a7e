"""The kinds of object the embedded cluster keeps, and what the API server says differently of each.

A kind that remediation starts to use is one more row in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Obj = dict[str, Any]
"""One Kubernetes object as JSON. Stored objects are never mutated: every change is a new dict."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One resource: its address, and the server's rules for it.

    `unconditional_update`: a PUT without a resourceVersion overwrites; where
    False it is refused with 422. `create_on_update`: a PUT of a missing object
    creates it. `graceful`: deletion waits for the kubelet. `fields` are the
    field selectors that the server knows for the kind beyond name and namespace.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    unconditional_update: bool = True
    create_on_update: bool = False
    graceful: bool = False
    fields: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """`v1` for the core group, `group/version` elsewhere."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The name that messages use: `nodes`, `leases.coordination.k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


NAMESPACES = Kind("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Kind("", "v1", "nodes", "Node", namespaced=False, fields=("spec.unschedulable",))
PODS = Kind("", "v1", "pods", "Pod", graceful=True, fields=("spec.nodeName", "status.phase"))
CONFIG_MAPS = Kind("", "v1", "configmaps", "ConfigMap")
EVENTS = Kind("", "v1", "events", "Event", fields=("involvedObject.name", "reason"))
LEASES = Kind(
    "coordination.k8s.io",
    "v1",
    "leases",
    "Lease",
    unconditional_update=False,
    create_on_update=True,
)
BUDGETS = Kind(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", unconditional_update=False
)
CLAIMS = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
VOLUMES = Kind("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False)
JOBS = Kind("batch", "v1", "jobs", "Job")
REPLICA_SETS = Kind("apps", "v1", "replicasets", "ReplicaSet")
VOLUME_SNAPSHOTS = Kind("snapshot.storage.k8s.io", "v1", "volumesnapshots", "VolumeSnapshot")
VOLUME_SNAPSHOT_CONTENTS = Kind(
    "snapshot.storage.k8s.io",
    "v1",
    "volumesnapshotcontents",
    "VolumeSnapshotContent",
    namespaced=False,
)

KINDS: dict[tuple[str, str, str], Kind] = {
    (kind.group, kind.version, kind.plural): kind
    for kind in (
        NAMESPACES,
        NODES,
        PODS,
        CONFIG_MAPS,
        EVENTS,
        LEASES,
        BUDGETS,
        CLAIMS,
        VOLUMES,
        JOBS,
        REPLICA_SETS,
        VOLUME_SNAPSHOTS,
        VOLUME_SNAPSHOT_CONTENTS,
    )
}
