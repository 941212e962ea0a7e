"""The GPUs that drivers publish of one node, read from its resource slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.facts.device import Device

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remediation.kube import wire_devices


def read_slices(
    slices: Iterable[wire_devices.ResourceSliceSpec],
) -> tuple[tuple[Device, ...], frozenset[str]]:
    """Return the GPUs of one node that carry a uuid, and uuids of those published in parts.

    Of a pool only the newest generation is true: a driver that restarts leaves
    older slices behind for a moment.
    """
    slices = tuple(slices)
    newest: dict[tuple[str, str], int] = {}
    for one in slices:
        key = (one.driver, one.pool.name)
        newest[key] = max(newest.get(key, 0), one.pool.generation)
    current = [one for one in slices if one.pool.generation == newest[one.driver, one.pool.name]]
    found = tuple(device for one in current for device in _devices(one))
    parts = frozenset(uuid for one in current for uuid in _texts(one, "parentUUID"))
    return found, parts


def _devices(published: wire_devices.ResourceSliceSpec) -> Iterator[Device]:
    for one in published.devices or ():
        uuid = _text(one, published.driver, "uuid")
        if uuid and one.name and published.driver and published.pool.name:
            yield Device(
                driver=published.driver, pool=published.pool.name, name=one.name, uuid=uuid
            )


def _texts(published: wire_devices.ResourceSliceSpec, name: str) -> Iterator[str]:
    for one in published.devices or ():
        text = _text(one, published.driver, name)
        if text:
            yield text


def _text(device: wire_devices.SliceDevice, driver: str, name: str) -> str | None:
    """Return a text attribute; a name without a domain is of the driver's own."""
    inner = device.basic.attributes if device.basic is not None else None
    attributes = device.attributes or inner or {}
    value = attributes.get(name) or attributes.get(f"{driver}/{name}")
    return value.string if value is not None else None
