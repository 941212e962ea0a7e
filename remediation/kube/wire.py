"""The parts of the API server's JSON that decide anything, decoded straight from its bytes.

The client's own models build every field of every object: at 300 nodes that is
a hundred milliseconds and megabytes for what one pass over the bytes tells in
two.  Unknown fields are skipped, absent ones have a value here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Part(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A part of an object; its fields are spelled as the server spells them."""


class _UnschedulableField(Part, frozen=True, kw_only=True):
    unschedulable: msgspec.Raw | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="f:unschedulable"
    )


class _Fields(Part, frozen=True, kw_only=True):
    spec: _UnschedulableField | None = msgspec.field(default=None, name="f:spec")


class ManagedFields(Part, frozen=True, kw_only=True):
    """One writer and what of `spec.unschedulable` it owns."""

    manager: str = ""
    fields: _Fields | None = msgspec.field(default=None, name="fieldsV1")

    @property
    def owns_cordon(self) -> bool:
        """Whether this writer was the last to set `spec.unschedulable`."""
        spec = self.fields.spec if self.fields is not None else None
        return spec is not None and spec.unschedulable is not msgspec.UNSET


class Owner(Part, frozen=True, kw_only=True):
    """One entry of `ownerReferences`."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(Part, frozen=True, kw_only=True):
    """What every object carries."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None
    managed_fields: list[ManagedFields] | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None


class Taint(Part, frozen=True, kw_only=True):
    """One taint; `time_added` stays as it was written."""

    key: str
    effect: str
    value: str = ""
    time_added: str | None = None


class NodeSpec(Part, frozen=True, kw_only=True):
    """What is wished of a node."""

    unschedulable: bool = False
    taints: list[Taint] | None = None


class Condition(Part, frozen=True, kw_only=True):
    """One condition of a node or a pod."""

    type: str
    status: str
    last_transition_time: datetime | None = None


class NodeInfo(Part, frozen=True, kw_only=True):
    """What the kubelet says of its machine."""

    boot_id: str = msgspec.field(default="", name="bootID")


class NodeStatus(Part, frozen=True, kw_only=True):
    """How a node is."""

    conditions: list[Condition] | None = None
    node_info: NodeInfo | None = None
    allocatable: dict[str, str | int | float] | None = None


class Node(Part, frozen=True, kw_only=True):
    """A node."""

    metadata: Metadata
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Resources(Part, frozen=True, kw_only=True):
    """What a container asks for."""

    limits: dict[str, str | int | float] | None = None
    requests: dict[str, str | int | float] | None = None


class Container(Part, frozen=True, kw_only=True):
    """A container of a pod."""

    resources: Resources | None = None
    restart_policy: str = ""


class Requirement(Part, frozen=True, kw_only=True):
    """One expression of a selector."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeTerm(Part, frozen=True, kw_only=True):
    """Expressions about a node that must hold together."""

    match_expressions: list[Requirement] | None = None
    match_fields: list[Requirement] | None = None


class NodeSelector(Part, frozen=True, kw_only=True):
    """Terms of which one must hold."""

    node_selector_terms: list[NodeTerm] | None = None


class NodeAffinity(Part, frozen=True, kw_only=True):
    """What is required of a node."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class LabelSelector(Part, frozen=True, kw_only=True):
    """Which objects are chosen, by their labels."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Requirement] | None = None


class PodTerm(Part, frozen=True, kw_only=True):
    """Pods of whose company something is required."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None


class PodAffinity(Part, frozen=True, kw_only=True):
    """What is required of the company of other pods."""

    required: list[PodTerm] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Part, frozen=True, kw_only=True):
    """Every rule of a pod about where it runs."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Part, frozen=True, kw_only=True):
    """A taint that a pod puts up with."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class ClaimSource(Part, frozen=True, kw_only=True):
    """The claim behind a volume."""

    claim_name: str = ""


class Volume(Part, frozen=True, kw_only=True):
    """A volume of a pod."""

    empty_dir: dict[str, Any] | None = None
    persistent_volume_claim: ClaimSource | None = None


class SchedulingGroup(Part, frozen=True, kw_only=True):
    """The group that is scheduled together with a pod."""

    pod_group_name: str = ""


class Owned(Part, frozen=True, kw_only=True):
    """Any object, as far as its owners go."""

    metadata: Metadata


class DeviceClaim(Part, frozen=True, kw_only=True):
    """A claim of devices in a pod: named by its spec, or made for it and named by its status."""

    resource_claim_name: str | None = None


class SpreadRule(Part, frozen=True, kw_only=True):
    """How a pod's kind is to be spread over domains."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


class PodSpec(Part, frozen=True, kw_only=True):
    """What is wished of a pod."""

    node_name: str = ""
    node_selector: dict[str, str] | None = None
    host_network: bool = False
    overhead: dict[str, str | int | float] | None = None
    topology_spread_constraints: list[SpreadRule] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    scheduling_group: SchedulingGroup | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    volumes: list[Volume] | None = None
    resource_claims: list[DeviceClaim] | None = None
    priority: int | None = None
    preemption_policy: str | None = None
    scheduling_gates: list[msgspec.Raw] | None = None


class PodStatus(Part, frozen=True, kw_only=True):
    """How a pod is."""

    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    resource_claim_statuses: list[DeviceClaim] | None = None
    extended_resource_claim_status: DeviceClaim | None = None
    conditions: list[Condition] | None = None


class Pod(Part, frozen=True, kw_only=True):
    """A pod."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class ClaimSpec(Part, frozen=True, kw_only=True):
    """What a claim was given."""

    volume_name: str = ""


class Claim(Part, frozen=True, kw_only=True):
    """A persistent volume claim."""

    spec: ClaimSpec = ClaimSpec()


class VolumeAffinity(Part, frozen=True, kw_only=True):
    """Where a volume can be attached."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Part, frozen=True, kw_only=True):
    """What a volume is."""

    node_affinity: VolumeAffinity | None = None


class PersistentVolume(Part, frozen=True, kw_only=True):
    """A persistent volume."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()


class ConfigMap(Part, frozen=True, kw_only=True):
    """A config map."""

    metadata: Metadata
    data: dict[str, str] | None = None


class ListMetadata(Part, frozen=True, kw_only=True):
    """Where a list stands, and where its next page begins."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Part, frozen=True, kw_only=True):
    """One page of a list; the items are decoded one by one."""

    metadata: ListMetadata
    items: list[msgspec.Raw] | None = None


class Told(Part, frozen=True, kw_only=True):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


class About(Part, frozen=True, kw_only=True):
    """What a bookmark or an error in a watch says."""

    metadata: Metadata = Metadata()
    code: int = 0
    message: str = ""
