"""The parts of the API server's JSON that decide anything, decoded straight from its bytes.

The client's own models build every field of every object: at 300 nodes that is
a hundred milliseconds and megabytes for what one pass over the bytes tells in
two.  Unknown fields are skipped, absent ones have a value here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class _Part(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A part of an object; its fields are spelled as the server spells them."""


class _UnschedulableField(_Part, frozen=True, kw_only=True):
    unschedulable: msgspec.Raw | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="f:unschedulable"
    )


class _Fields(_Part, frozen=True, kw_only=True):
    spec: _UnschedulableField | None = msgspec.field(default=None, name="f:spec")


class ManagedFields(_Part, frozen=True, kw_only=True):
    """One writer and what of `spec.unschedulable` it owns."""

    manager: str = ""
    fields: _Fields | None = msgspec.field(default=None, name="fieldsV1")

    @property
    def owns_cordon(self) -> bool:
        """Whether this writer was the last to set `spec.unschedulable`."""
        spec = self.fields.spec if self.fields is not None else None
        return spec is not None and spec.unschedulable is not msgspec.UNSET


class Owner(_Part, frozen=True, kw_only=True):
    """One entry of `ownerReferences`."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(_Part, frozen=True, kw_only=True):
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


class Taint(_Part, frozen=True, kw_only=True):
    """One taint; `time_added` stays as it was written."""

    key: str
    effect: str
    value: str = ""
    time_added: str | None = None


class NodeSpec(_Part, frozen=True, kw_only=True):
    """What is wished of a node."""

    unschedulable: bool = False
    taints: list[Taint] | None = None


class Condition(_Part, frozen=True, kw_only=True):
    """One condition of a node or a pod."""

    type: str
    status: str
    last_transition_time: datetime | None = None


class NodeInfo(_Part, frozen=True, kw_only=True):
    """What the kubelet says of its machine."""

    boot_id: str = msgspec.field(default="", name="bootID")


class NodeStatus(_Part, frozen=True, kw_only=True):
    """How a node is."""

    conditions: list[Condition] | None = None
    node_info: NodeInfo | None = None
    allocatable: dict[str, str | int | float] | None = None


class Node(_Part, frozen=True, kw_only=True):
    """A node."""

    metadata: Metadata
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Resources(_Part, frozen=True, kw_only=True):
    """What a container asks for."""

    limits: dict[str, str | int | float] | None = None
    requests: dict[str, str | int | float] | None = None


class Container(_Part, frozen=True, kw_only=True):
    """A container of a pod."""

    resources: Resources | None = None
    restart_policy: str = ""


class Requirement(_Part, frozen=True, kw_only=True):
    """One expression of a selector."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeTerm(_Part, frozen=True, kw_only=True):
    """Expressions about a node that must hold together."""

    match_expressions: list[Requirement] | None = None
    match_fields: list[Requirement] | None = None


class NodeSelector(_Part, frozen=True, kw_only=True):
    """Terms of which one must hold."""

    node_selector_terms: list[NodeTerm] | None = None


class NodeAffinity(_Part, frozen=True, kw_only=True):
    """What is required of a node."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class LabelSelector(_Part, frozen=True, kw_only=True):
    """Which objects are chosen, by their labels."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Requirement] | None = None


class PodTerm(_Part, frozen=True, kw_only=True):
    """Pods of whose company something is required."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None


class PodAffinity(_Part, frozen=True, kw_only=True):
    """What is required of the company of other pods."""

    required: list[PodTerm] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(_Part, frozen=True, kw_only=True):
    """Every rule of a pod about where it runs."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(_Part, frozen=True, kw_only=True):
    """A taint that a pod puts up with."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class ClaimSource(_Part, frozen=True, kw_only=True):
    """The claim behind a volume."""

    claim_name: str = ""


class Volume(_Part, frozen=True, kw_only=True):
    """A volume of a pod."""

    empty_dir: dict[str, Any] | None = None
    persistent_volume_claim: ClaimSource | None = None


class SchedulingGroup(_Part, frozen=True, kw_only=True):
    """The group that is scheduled together with a pod."""

    pod_group_name: str = ""


class Owned(_Part, frozen=True, kw_only=True):
    """Any object, as far as its owners go."""

    metadata: Metadata


class DeviceClaim(_Part, frozen=True, kw_only=True):
    """A claim of devices in a pod: named by its spec, or made for it and named by its status."""

    resource_claim_name: str | None = None


class SpreadRule(_Part, frozen=True, kw_only=True):
    """How a pod's kind is to be spread over domains."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


class PodSpec(_Part, frozen=True, kw_only=True):
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
    scheduling_gates: list[msgspec.Raw] | None = None


class PodStatus(_Part, frozen=True, kw_only=True):
    """How a pod is."""

    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    resource_claim_statuses: list[DeviceClaim] | None = None
    extended_resource_claim_status: DeviceClaim | None = None
    conditions: list[Condition] | None = None


class Pod(_Part, frozen=True, kw_only=True):
    """A pod."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class ClaimSpec(_Part, frozen=True, kw_only=True):
    """What a claim was given."""

    volume_name: str = ""


class Claim(_Part, frozen=True, kw_only=True):
    """A persistent volume claim."""

    spec: ClaimSpec = ClaimSpec()


class VolumeAffinity(_Part, frozen=True, kw_only=True):
    """Where a volume can be attached."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(_Part, frozen=True, kw_only=True):
    """What a volume is."""

    node_affinity: VolumeAffinity | None = None


class PersistentVolume(_Part, frozen=True, kw_only=True):
    """A persistent volume."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()


class DeviceValue(_Part, frozen=True, kw_only=True):
    """One attribute of a device; only text decides anything here."""

    string: str | None = None


class BasicDevice(_Part, frozen=True, kw_only=True):
    """Where older versions keep what a device is like."""

    attributes: dict[str, DeviceValue] | None = None


class SliceDevice(_Part, frozen=True, kw_only=True):
    """A device that a driver publishes."""

    name: str = ""
    attributes: dict[str, DeviceValue] | None = None
    basic: BasicDevice | None = None


class SlicePool(_Part, frozen=True, kw_only=True):
    """The pool that a slice is a part of; slices of an older generation are no longer true."""

    name: str = ""
    generation: int = 0


class ResourceSliceSpec(_Part, frozen=True, kw_only=True):
    """What a driver publishes of one node."""

    driver: str = ""
    pool: SlicePool = SlicePool()
    devices: list[SliceDevice] | None = None


class ResourceSlice(_Part, frozen=True, kw_only=True):
    """Some devices of one node."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceSelector(_Part, frozen=True, kw_only=True):
    """Which device a taint rule is about."""

    driver: str = ""
    pool: str = ""
    device: str = ""


class TaintRuleSpec(_Part, frozen=True, kw_only=True):
    """What a taint rule does."""

    device_selector: DeviceSelector | None = None


class DeviceTaintRule(_Part, frozen=True, kw_only=True):
    """A taint of devices."""

    metadata: Metadata
    spec: TaintRuleSpec = TaintRuleSpec()


class AllocatedDevice(_Part, frozen=True, kw_only=True):
    """A device that a claim was given; with admin access others may have it too."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


class AllocatedDevices(_Part, frozen=True, kw_only=True):
    """The devices that a claim was given."""

    results: list[AllocatedDevice] | None = None


class Allocation(_Part, frozen=True, kw_only=True):
    """What a claim was given."""

    devices: AllocatedDevices = AllocatedDevices()


class ResourceClaimStatus(_Part, frozen=True, kw_only=True):
    """How a claim of devices stands."""

    allocation: Allocation | None = None


class ResourceClaim(_Part, frozen=True, kw_only=True):
    """A claim of devices."""

    status: ResourceClaimStatus = ResourceClaimStatus()


class ApiVersion(_Part, frozen=True, kw_only=True):
    """One version of an API group."""

    version: str = ""


class ApiGroup(_Part, frozen=True, kw_only=True):
    """The versions of an API group, as the server prefers them."""

    name: str = ""
    versions: list[ApiVersion] | None = None


class ApiGroups(_Part, frozen=True, kw_only=True):
    """Every API group of a server."""

    groups: list[ApiGroup] | None = None


class ApiResource(_Part, frozen=True, kw_only=True):
    """One kind that a server offers; `name` is its plural."""

    name: str = ""
    kind: str = ""
    namespaced: bool = False


class ApiResources(_Part, frozen=True, kw_only=True):
    """The kinds of one version of a group."""

    resources: list[ApiResource] | None = None


class ConfigMap(_Part, frozen=True, kw_only=True):
    """A config map."""

    metadata: Metadata
    data: dict[str, str] | None = None


class ListMetadata(_Part, frozen=True, kw_only=True):
    """Where a list stands, and where its next page begins."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(_Part, frozen=True, kw_only=True):
    """One page of a list; the items are decoded one by one."""

    metadata: ListMetadata
    items: list[msgspec.Raw] | None = None


class Told(_Part, frozen=True, kw_only=True):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


class About(_Part, frozen=True, kw_only=True):
    """What a bookmark or an error in a watch says."""

    metadata: Metadata = Metadata()
    code: int = 0
    message: str = ""
