"""How Redfish resources look: the few shapes of which a tree is made."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.fleet import NodeReading

Resource = dict[str, Any]
ROOT = "/redfish/v1"
TRAY = f"{ROOT}/Chassis/Chassis_0"
ENABLED = {"Health": "OK", "HealthRollup": "OK", "State": "Enabled"}
EPOCH_SECONDS = 1_767_225_600.0
"""Wall clock of the BMC at simulated time zero (2026-01-01)."""


def collection(path: str, kind: str, members: list[str]) -> Resource:
    """Return a collection of `kind` with links to `members`."""
    return {
        "@odata.id": path,
        "@odata.type": f"#{kind}Collection.{kind}Collection",
        "Members": [{"@odata.id": member} for member in members],
        "Members@odata.count": len(members),
        "Name": f"{kind} Collection",
    }


def resource(path: str, kind: str, **properties: Any) -> Resource:
    """Return a resource whose id and name are the last part of its path."""
    name = path.rsplit("/", 1)[-1]
    return {"@odata.id": path, "@odata.type": f"#{kind}", "Id": name, "Name": name, **properties}


def link(path: str) -> dict[str, str]:
    """Return a reference to another resource."""
    return {"@odata.id": path}


def sensor(chassis: str, name: str, kind: str, units: str, value: float, **more: Any) -> Resource:
    """Return a sensor; one without a value is UnavailableOffline and has a null reading."""
    known = math.isfinite(value)
    return resource(
        f"{ROOT}/Chassis/{chassis}/Sensors/{name}",
        "Sensor.v1_7_0.Sensor",
        Reading=round(value, 3) if known else None,
        ReadingType=kind,
        ReadingUnits=units,
        Status=ENABLED if known else {"State": "UnavailableOffline"},
        **more,
    )


def timestamp(reading: NodeReading) -> str:
    """Return the BMC's own clock, which runs in simulated time."""
    moment = dt.datetime.fromtimestamp(EPOCH_SECONDS + reading.time_seconds, dt.UTC)
    return moment.isoformat(timespec="milliseconds")
