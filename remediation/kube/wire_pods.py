"""Pods and their volumes in the API server's JSON, as far as moving them needs."""

from __future__ import annotations

from typing import Any

import msgspec

from remediation.kube.wire import Condition, Metadata, Part


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
