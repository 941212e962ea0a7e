"""Devices, their taints and their claims, as `resource.k8s.io` spells them."""

from __future__ import annotations

from remediation.kube.wire import Metadata, Part


class DeviceValue(Part, frozen=True, kw_only=True):
    """One attribute of a device; only text decides anything here."""

    string: str | None = None


class BasicDevice(Part, frozen=True, kw_only=True):
    """Where older versions keep what a device is like."""

    attributes: dict[str, DeviceValue] | None = None


class SliceDevice(Part, frozen=True, kw_only=True):
    """A device that a driver publishes."""

    name: str = ""
    attributes: dict[str, DeviceValue] | None = None
    basic: BasicDevice | None = None


class SlicePool(Part, frozen=True, kw_only=True):
    """The pool that a slice is a part of; slices of an older generation are no longer true."""

    name: str = ""
    generation: int = 0


class ResourceSliceSpec(Part, frozen=True, kw_only=True):
    """What a driver publishes of one node."""

    driver: str = ""
    pool: SlicePool = SlicePool()
    devices: list[SliceDevice] | None = None


class ResourceSlice(Part, frozen=True, kw_only=True):
    """Some devices of one node."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceSelector(Part, frozen=True, kw_only=True):
    """Which device a taint rule is about."""

    driver: str = ""
    pool: str = ""
    device: str = ""


class TaintRuleSpec(Part, frozen=True, kw_only=True):
    """What a taint rule does."""

    device_selector: DeviceSelector | None = None


class DeviceTaintRule(Part, frozen=True, kw_only=True):
    """A taint of devices."""

    metadata: Metadata
    spec: TaintRuleSpec = TaintRuleSpec()


class AllocatedDevice(Part, frozen=True, kw_only=True):
    """A device that a claim was given; with admin access others may have it too."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


class AllocatedDevices(Part, frozen=True, kw_only=True):
    """The devices that a claim was given."""

    results: list[AllocatedDevice] | None = None


class Allocation(Part, frozen=True, kw_only=True):
    """What a claim was given."""

    devices: AllocatedDevices = AllocatedDevices()


class ResourceClaimStatus(Part, frozen=True, kw_only=True):
    """How a claim of devices stands."""

    allocation: Allocation | None = None


class ResourceClaim(Part, frozen=True, kw_only=True):
    """A claim of devices."""

    status: ResourceClaimStatus = ResourceClaimStatus()
