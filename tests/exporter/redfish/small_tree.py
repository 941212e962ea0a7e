"""A small server's tree, enough for every channel that older BMCs have, new for each test."""

from __future__ import annotations

from typing import Any

ROOT = "/redfish/v1"
CHASSIS = f"{ROOT}/Chassis/1"
THERMAL, POWER = f"{CHASSIS}/Thermal", f"{CHASSIS}/Power"
SYSTEM = f"{ROOT}/Systems/1"
OK = {"State": "Enabled", "Health": "OK"}


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def collection(uri: str, *members: str) -> dict[str, Any]:
    return {"@odata.id": uri, "Members": [link(member) for member in members]}


def small_tree() -> dict[str, Any]:
    return {
        ROOT: {
            "@odata.id": ROOT,
            "Chassis": link(f"{ROOT}/Chassis"),
            "Systems": link(f"{ROOT}/Systems"),
        },
        f"{ROOT}/Chassis": collection(f"{ROOT}/Chassis", CHASSIS),
        CHASSIS: {"@odata.id": CHASSIS, "Id": "1", "Thermal": link(THERMAL), "Power": link(POWER)},
        f"{ROOT}/Systems": collection(f"{ROOT}/Systems", SYSTEM),
        SYSTEM: {"@odata.id": SYSTEM, "PowerState": "On"},
        THERMAL: {
            "@odata.id": THERMAL,
            "Temperatures": [
                {"Name": "CPU1 Temp", "ReadingCelsius": 51, "Status": OK},
                {"Name": "System Inlet Temp", "ReadingCelsius": 23.5, "Status": OK},
            ],
            "Fans": [
                {"Name": "Fan 1", "Reading": 5000, "ReadingUnits": "RPM", "Status": OK},
                {"Name": "Fan 2", "Reading": 4800, "ReadingUnits": "RPM", "Status": OK},
            ],
        },
        POWER: {
            "@odata.id": POWER,
            "PowerControl": [{"Name": "System Power Control", "PowerConsumedWatts": 614}],
            "PowerSupplies": [
                {"Name": "PSU1", "Status": OK},
                {"Name": "PSU2", "Status": OK},
            ],
        },
    }


def with_detectors(tree: dict[str, Any], *detectors: dict[str, Any]) -> dict[str, Any]:
    """Add leak detectors with these bodies below the chassis."""
    cooling = f"{CHASSIS}/ThermalSubsystem"
    detection, listing = f"{cooling}/LeakDetection", f"{cooling}/LeakDetection/LeakDetectors"
    tree[CHASSIS]["ThermalSubsystem"] = link(cooling)
    tree[cooling] = {"@odata.id": cooling, "LeakDetection": link(detection)}
    tree[detection] = {"@odata.id": detection, "LeakDetectors": link(listing)}
    uris = [f"{listing}/{index}" for index in range(len(detectors))]
    tree[listing] = collection(listing, *uris)
    for uri, detector in zip(uris, detectors, strict=True):
        tree[uri] = {"@odata.id": uri, **detector}
    return tree


def with_sensors(tree: dict[str, Any], **sensors: dict[str, Any]) -> dict[str, Any]:
    """Add sensors by id below the chassis, and drop the older resources."""
    listing = f"{CHASSIS}/Sensors"
    chassis = tree[CHASSIS]
    chassis["Sensors"] = link(listing)
    chassis.pop("Thermal", None)
    chassis.pop("Power", None)
    tree[listing] = collection(listing, *(f"{listing}/{name}" for name in sensors))
    for name, sensor in sensors.items():
        uri = f"{listing}/{name}"
        tree[uri] = {"@odata.id": uri, "Id": name, "Name": name, "Status": OK, **sensor}
    return tree


def expandable(tree: dict[str, Any]) -> dict[str, Any]:
    tree[ROOT]["ProtocolFeaturesSupported"] = {"ExpandQuery": {"NoLinks": True, "MaxLevels": 2}}
    return tree
