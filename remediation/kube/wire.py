"""The parts of the API server's JSON that decide anything, decoded straight from its bytes.

The client's own models build every field of every object: at 300 nodes that is
a hundred milliseconds and megabytes for what one pass over the bytes tells in
two.  Unknown fields are skipped, absent ones have a value here.
"""

from __future__ import annotations

from datetime import datetime

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


class Owned(Part, frozen=True, kw_only=True):
    """Any object, as far as its owners go."""

    metadata: Metadata


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
