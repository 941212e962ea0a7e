"""What a tree is: a node or facility equipment, one host or several, and whether $expand works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.readings import Reason, SourceFailed
from exporter.redfish.resources import Kind
from exporter.redfish.samples import leaf, link, obj, objects, text
from model.sources import redfish as spell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGES_LIMIT = 64
EQUIPMENT = {
    "ThermalEquipment": "cooling equipment",
    "PowerEquipment": "power equipment",
    "PowerDistribution": "power equipment",
}

ESSENTIAL: dict[Kind, tuple[frozenset[str], ...]] = {
    Kind.SENSOR: (frozenset({"Reading"}), frozenset({"ReadingType", "ReadingUnits"})),
    Kind.LEAK: (frozenset({"DetectorState"}), frozenset({"Status"})),
    Kind.SUPPLY: (frozenset({"Status"}),),
    Kind.CONNECTOR: (frozenset({"Name", "Id"}),),
    Kind.FAN: (frozenset({"Status"}),),
    Kind.PUMP: (frozenset({"Status"}),),
    Kind.PROCESSOR: (frozenset({"Status"}), frozenset({"ProcessorType"})),
}
"""Of each set at least one member must be there for an expanded resource to be whole."""


def refuse_facility(root: dict[str, Any], chassis: Sequence[str]) -> None:
    """Raise `SourceFailed` with one clear line when the tree is no node's."""
    what = _facility(root, chassis)
    if what:
        raise SourceFailed(
            Reason.FACILITY_TREE,
            f"this address answers for {what}, not for a node's BMC: nothing is read from it. "
            "it belongs to the targets of the facility exporter; "
            "set the url to the BMC of the node itself",
        )


def _facility(root: dict[str, Any], chassis: Sequence[str]) -> str:
    hosts = bool(link(root, "Systems"))
    for name, what in EQUIPMENT.items():
        if name in root and not hosts:
            return what
    if not hosts and any("powershelf" in name.lower() for name in chassis):
        return "a power shelf"
    switches = any("nvswitch" in name.lower() for name in chassis)
    node = any("gpu" in name.lower() or name.startswith("HGX") for name in chassis)
    return "an NVLink switch tray" if switches and not node else ""


def chassis_of_node(listed: tuple[str, ...], wanted: str, hosts: Sequence[str]) -> tuple[str, ...]:
    """Return the chassis to search: all that are more than a part.

    Where `wanted` says which of several nodes is ours, the chassis named like
    the other `hosts` are left out; what the nodes share stays.
    """
    names = [leaf(uri) for uri in listed]
    if not listed:
        raise SourceFailed(Reason.NO_RESOURCE, "the tree lists no chassis")
    if wanted and wanted not in names:
        known = ", ".join(sorted(names))[:300]
        raise SourceFailed(Reason.NO_RESOURCE, f"no chassis {wanted!r}; expected one of {known}")
    others = {leaf(uri) for uri in hosts} - {wanted} if wanted else set()
    own = tuple(uri for uri in listed if leaf(uri) not in others)
    return tuple(uri for uri in own if not spell.PART_CHASSIS.search(leaf(uri))) or own


def is_baseboard(chassis: dict[str, Any]) -> bool:
    """Tell the GPU baseboard, which is a chassis of its own, from the node around it."""
    return text(chassis, "Id").startswith("HGX")


def hosts(systems: list[str]) -> list[str]:
    """Return the systems that are hosts; a baseboard of GPUs is listed as a system, too."""
    return [uri for uri in systems if not leaf(uri).startswith("HGX")]


def own_system(hosts: list[str], chassis: str) -> str:
    """Return the host whose power state is this node's, or nothing where that is unclear."""
    same = [uri for uri in hosts if leaf(uri) == chassis]
    if same:
        return same[0]
    return hosts[0] if len(hosts) == 1 else ""


def several(hosts: list[str], chassis: str) -> bool:
    """Tell whether the BMC serves several nodes and it was not said which is ours."""
    return len(hosts) > 1 and not chassis


def advertises_expand(root: dict[str, Any]) -> bool:
    """Tell whether the BMC claims to support `$expand=.`; the claim is tried before it is used."""
    query = obj(obj(root, "ProtocolFeaturesSupported"), "ExpandQuery")
    return query.get("NoLinks") is True


def members_in_place(get: Callable[[str], dict[str, Any]], uri: str) -> dict[str, dict[str, Any]]:
    """Return the members of an expanded collection by address, over all of its pages."""
    found: dict[str, dict[str, Any]] = {}
    pages: set[str] = set()
    while uri and uri not in pages and len(pages) < PAGES_LIMIT:
        pages.add(uri)
        page = get(uri)
        for _, member in objects(page, "Members"):
            if address := text(member, "@odata.id"):
                found[address] = member
        uri = text(page, "Members@odata.nextLink") or text(page, "@odata.nextLink")
    return found


def whole(kind: Kind, documents: dict[str, dict[str, Any]], members: list[str]) -> bool:
    """Tell whether an expanded collection has all members, each with what a GET of it has."""
    return bool(members) and all(
        member in documents and all(group & documents[member].keys() for group in ESSENTIAL[kind])
        for member in members
    )
