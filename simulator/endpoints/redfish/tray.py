"""The resource tree of one node: a liquid-cooled HGX tray as NVIDIA's BMC lays it out.

Resource types, properties and report shapes follow recorded trees.  The metric
reports carry GPUs, fans, power and inlet; coolant, power supplies and leak
detectors have only resources of their own, as on real trays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.endpoints.redfish.reports import reports
from simulator.endpoints.redfish.sensors import gpu_sensors, tray_sensors
from simulator.endpoints.redfish.shapes import (
    ENABLED,
    ROOT,
    Resource,
    collection,
    link,
    resource,
    timestamp,
)
from simulator.endpoints.redfish.subsystems import cooling, power_supplies
from simulator.physics import board

if TYPE_CHECKING:
    from simulator.fleet import NodeReading

BASEBOARD = f"{ROOT}/Systems/HGX_Baseboard_0"


def tree(reading: NodeReading) -> dict[str, Resource]:
    """Return every resource by its path, without trailing slash."""
    gpus = len(reading.watts)
    sensors = tray_sensors(reading)
    boards = {f"HGX_GPU_{gpu}": gpu_sensors(reading, gpu) for gpu in range(gpus)}
    resources = [
        *_root(),
        *_managers(reading),
        *_systems(gpus, reading),
        *_chassis("Chassis_0", "Shelf", sensors),
        *cooling(reading, sensors),
        *power_supplies(reading),
        *reports(reading, sensors, boards),
    ]
    for name, owned in boards.items():
        resources += _chassis(name, "Component", owned)
    members = [f"{ROOT}/Chassis/{name}" for name in ("Chassis_0", *boards)]
    resources.append(collection(f"{ROOT}/Chassis", "Chassis", members))
    return {resource["@odata.id"]: resource for resource in resources}


def _root() -> list[Resource]:
    root = resource(
        ROOT,
        "ServiceRoot.v1_15_0.ServiceRoot",
        Chassis=link(f"{ROOT}/Chassis"),
        Links={"Sessions": link(f"{ROOT}/SessionService/Sessions")},
        Managers=link(f"{ROOT}/Managers"),
        Product="HGX H100 liquid-cooled tray",
        ProtocolFeaturesSupported={
            "ExcerptQuery": False,
            "ExpandQuery": {
                "ExpandAll": True,
                "Levels": True,
                "Links": True,
                "MaxLevels": 1,
                "NoLinks": True,
            },
            "FilterQuery": False,
            "OnlyMemberQuery": False,
            "SelectQuery": False,
        },
        RedfishVersion="1.17.0",
        SessionService=link(f"{ROOT}/SessionService"),
        Systems=link(f"{ROOT}/Systems"),
        TelemetryService=link(f"{ROOT}/TelemetryService"),
        Vendor="NVIDIA",
    )
    root |= {"Id": "RootService", "Name": "Root Service"}
    sessions = resource(
        f"{ROOT}/SessionService",
        "SessionService.v1_0_2.SessionService",
        ServiceEnabled=True,
        SessionTimeout=1800,
        Sessions=link(f"{ROOT}/SessionService/Sessions"),
    )
    return [root, sessions]


def _managers(reading: NodeReading) -> list[Resource]:
    path = f"{ROOT}/Managers/BMC_0"
    manager = resource(
        path,
        "Manager.v1_14_0.Manager",
        DateTime=timestamp(reading),
        DateTimeLocalOffset="+00:00",
        FirmwareVersion="HGX-24.12-8",
        ManagerType="BMC",
        Model="OpenBmc",
        Status=ENABLED,
    )
    return [collection(f"{ROOT}/Managers", "Manager", [path]), manager]


def _systems(gpus: int, reading: NodeReading) -> list[Resource]:
    paths = [f"{BASEBOARD}/Processors/GPU_{gpu}" for gpu in range(gpus)]
    system = resource(
        BASEBOARD,
        "ComputerSystem.v1_22_0.ComputerSystem",
        Manufacturer="NVIDIA",
        PowerState="On" if reading.host_on else "Off",
        Processors=link(f"{BASEBOARD}/Processors"),
        Status=ENABLED,
        SystemType="Physical",
    )
    processors = [
        resource(
            path,
            "Processor.v1_20_0.Processor",
            Model=board.MODEL,
            ProcessorType="GPU",
            Status={**ENABLED, "State": "Absent" if reading.dead[gpu] else "Enabled"},
        )
        for gpu, path in enumerate(paths)
    ]
    systems = collection(f"{ROOT}/Systems", "ComputerSystem", [BASEBOARD])
    return [systems, system, collection(f"{BASEBOARD}/Processors", "Processor", paths), *processors]


def _chassis(name: str, kind: str, sensors: list[Resource]) -> list[Resource]:
    path = f"{ROOT}/Chassis/{name}"
    more: dict[str, Any] = {"Sensors": link(f"{path}/Sensors")}
    if kind == "Shelf":
        more["Manufacturer"] = "NVIDIA"
        more["ThermalSubsystem"] = link(f"{path}/ThermalSubsystem")
        more["PowerSubsystem"] = link(f"{path}/PowerSubsystem")
    chassis = resource(
        path,
        "Chassis.v1_22_0.Chassis",
        ChassisType=kind,
        PowerState="On",
        Status=ENABLED,
        **more,
    )
    members = [sensor["@odata.id"] for sensor in sensors]
    return [chassis, collection(f"{path}/Sensors", "Sensor", members), *sensors]
