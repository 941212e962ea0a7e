"""Values looked up by eye in recorded trees: the channel, the number, and where it stands.

`at` is the document below /redfish/v1 and, after #, the property in it.  Where
several sensors claim one channel, the one named here is the one that must win:
the hottest, the slowest, or the node's own.
"""

from __future__ import annotations

from typing import NamedTuple

from model.sources import redfish as spell


class Hand(NamedTuple):
    """One value by hand."""

    channel: str
    value: float
    at: str


CRAY = "Chassis/Node0/Sensors"
DELL = "Chassis/System.Embedded.1"
REPORT = "TelemetryService/MetricReports/HGX_PlatformEnvironmentMetrics_0#MetricValues"
BY_HAND: dict[str, tuple[Hand, ...]] = {
    "cray-ex235n-a100": (
        Hand(spell.POWER, 467, f"{CRAY}/ChassisVoltageRegulator0InputPower#Reading"),
        Hand(spell.ENERGY, 401457377, f"{CRAY}/ChassisVoltageRegulator0InputEnergy#Reading"),
        Hand(spell.INLET, 32, "Chassis/Enclosure/Thermal#Temperatures/2/ReadingCelsius"),
        Hand(spell.CPU, 34, f"{CRAY}/CPU0Temperature#Reading"),
    ),
    "dell-idrac9-a": (
        Hand(spell.INLET, 25, f"{DELL}/Sensors/SystemBoardInletTemp#Reading"),
        Hand(spell.OUTLET, 31, f"{DELL}/Sensors/SystemBoardExhaustTemp#Reading"),
        Hand(spell.CPU, 39, f"{DELL}/Sensors/CPU2Temp#Reading"),
        Hand(spell.POWER, 614, f"{DELL}/Power#PowerControl/0/PowerConsumedWatts"),
        Hand(spell.POWER_LIMIT, 1205, f"{DELL}/Power#PowerControl/0/PowerLimit/LimitInWatts"),
        Hand(spell.IN_VOLTS, 240, f"{DELL}/Power#PowerSupplies/0/LineInputVoltage"),
        Hand(spell.FAN, 18600, f"{DELL}/Thermal#Fans/0/Reading"),
    ),
    "dmtf-public-rackmount1": (
        Hand(spell.INLET, 25, "Chassis/1U/Thermal#Temperatures/2/ReadingCelsius"),
        Hand(spell.CPU, 41, "Chassis/1U/Thermal#Temperatures/0/ReadingCelsius"),
        Hand(spell.POWER, 344, "Chassis/1U/Power#PowerControl/0/PowerConsumedWatts"),
        Hand(spell.POWER_LIMIT, 500, "Chassis/1U/Power#PowerControl/0/PowerLimit/LimitInWatts"),
        Hand(spell.FAN, 2050, "Chassis/1U/Thermal#Fans/1/Reading"),
    ),
    "hpe-ilo6-dl380a-gen11": (
        Hand(spell.INLET, 24, "Chassis/1/Thermal#Temperatures/0/ReadingCelsius"),
        Hand(spell.CPU, 61, "Chassis/1/Thermal#Temperatures/1/ReadingCelsius"),
        Hand(spell.DIMM, 52, "Chassis/1/Thermal#Temperatures/5/ReadingCelsius"),
        Hand(spell.BOARD, 62, "Chassis/1/Thermal#Temperatures/11/ReadingCelsius"),
        Hand(spell.NIC, 94, "Chassis/1/Thermal#Temperatures/50/ReadingCelsius"),
        Hand(spell.SUPPLY_TEMPERATURE, 45, "Chassis/1/Thermal#Temperatures/26/ReadingCelsius"),
        Hand(spell.POWER, 565, "Chassis/1/Power#PowerControl/0/PowerConsumedWatts"),
        Hand(spell.IN_VOLTS, 208, "Chassis/1/Power#PowerSupplies/2/LineInputVoltage"),
    ),
    "nvidia-dgx-h100-ami": (
        Hand(spell.INLET, 22, "Chassis/DGX/Sensors/TEMP_AMBIENT#Reading"),
        Hand(spell.OUTLET, 47, "Chassis/DGX/Thermal#Temperatures/6/ReadingCelsius"),
        Hand(spell.BOARD, 59, "Chassis/DGX/Thermal#Temperatures/74/ReadingCelsius"),
        Hand(spell.POWER, 1950, "Chassis/DGX/Sensors/PWR_SYSTEM#Reading"),
        Hand(spell.BUS_VOLTS, 54.25, "Chassis/DGX/Sensors/VOLT_PDB_HSC#Reading"),
        Hand(spell.FAN, 3886, "Chassis/DGX/Thermal#Fans/12/Reading"),
    ),
    "nvidia-gb200-compute-tray": (
        Hand(spell.INLET, 27.375, "Chassis/Chassis_0/Sensors/Chassis_0_Front_IO_Temp_0#Reading"),
        Hand(spell.OUTLET, 42, f"{REPORT}/25/MetricValue"),
        Hand(spell.CPU, 41.031, f"{REPORT}/43/MetricValue"),
        Hand(spell.CPU_MARGIN, 46.438, f"{REPORT}/44/MetricValue"),
        Hand(
            spell.POWER, 1079.325153, "Chassis/Chassis_0/Sensors/Chassis_0_TotalHSC_Power_0#Reading"
        ),
        Hand(spell.BUS_VOLTS, 54.524, "Chassis/PDB_0/Sensors/PDB_0_HSC_0_Volt_In_0#Reading"),
        Hand(spell.FAN, 5782, "Chassis/Chassis_0/Sensors/Chassis_0_FAN_1_REAR#Reading"),
    ),
    "nvidia-gh200": (
        Hand(
            spell.INLET,
            29.996094,
            "Chassis/HGX_Chassis_0/Sensors/HGX_Chassis_0_Inlet_1_Temp_0#Reading",
        ),
        Hand(
            spell.CPU,
            38.281,
            "Chassis/HGX_CPU_1/Sensors/ProcessorModule_1_CPU_0_TempAvg_0#Reading",
        ),
        Hand(
            spell.CPU_MARGIN,
            49.907,
            "Chassis/HGX_ProcessorModule_1/ThermalSubsystem/ThermalMetrics"
            "#TemperatureReadingsCelsius/4/Reading",
        ),
        Hand(spell.FAN, 9733, "Chassis/BMC_0/Sensors/FAN_4_R#Reading"),
    ),
}
NODES = {"cray-ex235n-a100": "Node0"}
"""Where one BMC serves several nodes: the one that is looked at."""
