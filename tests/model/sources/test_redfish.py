"""Which sensor speaks for the node, by the names that vendors give."""

from __future__ import annotations

import pytest

from model import schema
from model.sources import redfish as spell
from model.sources import redfish_names as sensor_names
from model.sources.redfish import Quantity

T, W, F = Quantity.TEMPERATURE, Quantity.POWER, Quantity.FAN_SPEED
M, V = Quantity.MARGIN, Quantity.VOLTAGE


@pytest.mark.parametrize(
    ("quantity", "names", "channel", "rank"),
    [
        (T, ("01-Inlet Ambient",), spell.INLET, 0),
        (T, ("TEMP_AMBIENT",), spell.INLET, 0),
        (T, ("System Board Inlet Temp",), spell.INLET, 1),
        (T, ("x", "SystemBoardInletTemp"), spell.INLET, 1),
        (T, ("Chassis_0_Front_IO_Temp_0",), spell.INLET, 2),
        (T, ("Inlet Temp",), spell.INLET, 2),
        (T, ("HGX_Chassis_0_Inlet_0_Temp_0",), spell.INLET, 3),
        (T, ("TEMP_MB_INLET",), spell.INLET, 3),
        (W, ("PWR_SYSTEM",), spell.POWER, 1),
        (W, ("Chassis_0_TotalHSC_Power_0",), spell.POWER, 1),
        (W, ("System Board Pwr Consumption",), spell.POWER, 1),
        (W, ("PDB_0_HSC_1_Pwr_0",), spell.POWER, 3),
        (F, ("SPD_FAN_SYS10_F",), spell.FAN, 1),
        (F, ("System Board Fan1A",), spell.FAN, 1),
        (T, ("Coolant Supply Temp",), spell.SUPPLY, 1),
        (T, ("Liquid Return Temperature",), spell.RETURN, 1),
        (T, ("System Board Exhaust Temp",), spell.OUTLET, 1),
        (T, ("TEMP_MB_OUTLET",), spell.OUTLET, 1),
        (T, ("HGX_ProcessorModule_0_Exhaust_Temp_0",), spell.OUTLET, 3),
        (T, ("CPU1 Temp",), spell.CPU, 1),
        (T, ("TEMP_CPU0",), spell.CPU, 1),
        (T, ("02-CPU 1 PkgTmp",), spell.CPU, 1),
        (T, ("ProcessorModule_0_CPU_0_TempAvg_0",), spell.CPU, 1),
        (T, ("TEMP_CPU0_ABCD",), spell.DIMM, 1),
        (T, ("04-P1 DIMM 1-6",), spell.DIMM, 1),
        (T, ("TEMP_NM_1_CX7_2",), spell.NIC, 1),
        (T, ("IO_Board_0_CX7_0_Temp_0",), spell.NIC, 1),
        (T, ("TEMP_PSU0",), spell.SUPPLY_TEMPERATURE, 1),
        (T, ("22-P/S 1",), spell.SUPPLY_TEMPERATURE, 1),
        (T, ("TEMP_VR_CPU0",), spell.BOARD, 1),
        (T, ("PDB_0_HSC_0_Temp_0",), spell.BOARD, 1),
        (T, ("TEMP_GB_RETIMER8",), spell.BOARD, 1),
        (M, ("ProcessorModule_0_CPU_0_TempLimit_0",), spell.CPU_MARGIN, 1),
        (W, ("PWR_PSU3",), spell.IN_WATTS, 1),
        (V, ("PDB_0_HSC_0_Volt_In_0",), spell.BUS_VOLTS, 1),
        (V, ("VOLT_PDB_HSC",), spell.BUS_VOLTS, 1),
        (V, ("PS1 Voltage 1",), spell.IN_VOLTS, 1),
        (V, ("Chassis_0_LeakDetector_0_ColdPlate",), spell.LEAK_MARGIN, 1),
        (Quantity.CURRENT, ("PDB_0_HSC_1_Cur_0",), spell.BUS_AMPERES, 1),
    ],
)
def test_a_sensor_of_the_node_is_known_by_name(quantity, names, channel: str, rank: int) -> None:
    found = sensor_names.spelling_of(quantity, "", *names)
    assert found is not None
    assert found[:2] == (channel, rank)


@pytest.mark.parametrize(
    ("quantity", "name"),
    [
        (T, "23-P/S 1 Inlet"),
        (T, "TEMP_GB1_INLET1"),
        (T, "GPU 3 Inlet Temp"),
        (T, "CPU0 VCORE Temperature"),
        (T, "TEMP_NM_1_OSFP2"),
        (T, "52-GPU ASIC"),
        (M, "TLIMIT_GB_SXM6"),
        (V, ""),
        (W, "HGX_Chassis_0_TotalGPU_Power_0"),
        (W, "HGX_Chassis_0_TotalHSC_Power_0"),
        (W, "CPU0 Package Power"),
        (F, "SPD_FAN_PSU0_F"),
        (F, "Chassis_0_FAN_1_PWM"),
        (W, "TEMP_AMBIENT"),
    ],
)
def test_a_sensor_of_a_part_is_not_the_nodes(quantity: Quantity, name: str) -> None:
    assert sensor_names.spelling_of(quantity, "", name) is None


@pytest.mark.parametrize(
    ("units", "value", "expected"),
    [
        ("Cel", 25, 25),
        ("C", 25, 25),
        ("[degF]", 212, 100),
        ("PSI", 1, 6894.757293),
        ("kPa", 234, 234_000),
        ("m3/h", 6, 100),
        ("%", 45, 0.45),
        ("kW", 1.5, 1500),
    ],
)
def test_units_are_brought_to_one(units: str, value: float, expected: float) -> None:
    unit = spell.unit_of("", units)
    assert unit is not None
    assert value * unit.scale + unit.offset == pytest.approx(expected)


def test_every_channel_named_here_is_one_of_the_nodes() -> None:
    nodes = {row.name for row in schema.CHANNELS if row.origin is schema.Origin.REDFISH}
    assert set(spell.CHANNELS) <= nodes
    assert {spelling.channel for spelling in sensor_names.SPELLINGS} <= nodes
