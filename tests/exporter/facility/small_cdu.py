"""A small CDU's tree whose numbers agree with each other, new for each test."""

from __future__ import annotations

from typing import Any

from tests.exporter.redfish.small_tree import OK, ROOT, collection, link

CDUS = f"{ROOT}/ThermalEquipment/CDUs"
CDU = f"{CDUS}/1"
COOLANT = {"DensityKgPerCubicMeter": 1000, "SpecificHeatkJoulesPerKgK": 4.0}
PRIMARY, SECONDARY = f"{CDU}/PrimaryCoolantConnectors/1", f"{CDU}/SecondaryCoolantConnectors/1"
PUMPS = [f"{CDU}/Pumps/{index}" for index in (1, 2)]
DETECTOR = f"{CDU}/LeakDetection/LeakDetectors/rope"


def connector(uri: str, flow: float, supply: float, back: float, **more: Any) -> dict[str, Any]:
    """A connector whose reported heat follows from flow (L/min) and temperatures."""
    heat = flow / 60 * 4.0 * (back - supply)
    return {
        "@odata.id": uri,
        "Id": uri[-1],
        "Name": "loop",
        "Status": OK,
        "Coolant": COOLANT,
        "FlowLitersPerMinute": {"Reading": flow},
        "SupplyTemperatureCelsius": {"Reading": supply},
        "ReturnTemperatureCelsius": {"Reading": back},
        "DeltaTemperatureCelsius": {"Reading": back - supply},
        "SupplyPressurekPa": {"Reading": 300},
        "ReturnPressurekPa": {"Reading": 180},
        "HeatRemovedkW": {"Reading": heat},
        **more,
    }


def small_cdu() -> dict[str, Any]:
    equipment = f"{ROOT}/ThermalEquipment"
    parts: dict[str, list[str]] = {
        "PrimaryCoolantConnectors": [PRIMARY],
        "SecondaryCoolantConnectors": [SECONDARY],
        "Pumps": PUMPS,
    }
    detection = f"{CDU}/LeakDetection"
    tree: dict[str, Any] = {
        ROOT: {"@odata.id": ROOT, "ThermalEquipment": link(equipment)},
        equipment: {"@odata.id": equipment, "CDUs": link(CDUS)},
        CDUS: collection(CDUS, CDU),
        CDU: {"@odata.id": CDU, "Id": "1", "Coolant": COOLANT, "LeakDetection": link(detection)},
        PRIMARY: connector(PRIMARY, 60, 20, 30),
        SECONDARY: connector(SECONDARY, 120, 32, 37),
        detection: {"@odata.id": detection, "LeakDetectors": link(f"{detection}/LeakDetectors")},
        f"{detection}/LeakDetectors": collection(f"{detection}/LeakDetectors", DETECTOR),
        DETECTOR: {"@odata.id": DETECTOR, "Id": "rope", "DetectorState": "OK", "Status": OK},
    }
    for name, members in parts.items():
        tree[CDU][name] = link(f"{CDU}/{name}")
        tree[f"{CDU}/{name}"] = collection(f"{CDU}/{name}", *members)
    for pump, percent in zip(PUMPS, (40, 55), strict=True):
        tree[pump] = {
            "@odata.id": pump,
            "Id": pump[-1],
            "Status": OK,
            "PumpSpeedPercent": {"Reading": percent, "SpeedRPM": percent * 50},
        }
    return tree
