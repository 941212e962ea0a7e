"""The table of DCGM spellings."""

from __future__ import annotations

import pytest

from exporter.readings import Missing
from model import schema
from model.sources import dcgm


def test_every_row_feeds_a_channel_that_is_dcgms_to_say() -> None:
    fed = {field.channel for field in dcgm.FIELDS} - dcgm.INGREDIENTS.keys()
    assert {schema.BY_NAME[name].origin for name in fed} == {schema.Origin.DCGM}


def test_every_channel_of_dcgm_has_a_spelling_or_is_counted_here() -> None:
    fed = {field.channel for field in dcgm.FIELDS}
    counted = {*dcgm.EVENTS.values(), "gpu_unchanged_seconds"}
    made = {"gpu_shutdown_margin_celsius"}
    assert {*dcgm.CHANNELS, *dcgm.NODE_CHANNELS} - fed == counted | made


def test_no_name_stands_in_two_rows_but_for_the_clock_mask() -> None:
    rows = [field for field in dcgm.FIELDS if field.flag is None]
    names = [name for field in rows for name in field.names]
    assert len(names) == len(set(names))


def test_every_unusable_number_is_a_named_kind_of_missing() -> None:
    assert {unusable.value for unusable in dcgm.Unusable} <= {kind.value for kind in Missing}


@pytest.mark.parametrize(
    ("name", "channel"),
    [
        ("DCGM_FI_DEV_GPU_TEMP", "gpu_temperature_celsius"),
        ("DCGM_FI_DEV_GPU_TEMP_CELSIUS", "gpu_temperature_celsius"),
        ("dcgm_fi_dev_pcie_replay_counter_total", "gpu_pcie_replays_total"),
        ("DCGM_FI_DEV_PCIE_REPLAY_total", "gpu_pcie_replays_total"),
        ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "gpu_memory_correctable_errors_total"),
    ],
)
def test_names_are_found_in_every_spelling(name: str, channel: str) -> None:
    assert [field.channel for field in dcgm.fields(name)] == [channel]


@pytest.mark.parametrize("name", ["DCGM_FI_DEV_PCIE_REPLAY_created", "node_load1", "DCGM_FI_DEV"])
def test_other_names_feed_nothing(name: str) -> None:
    assert dcgm.fields(name) == ()


def test_names_of_the_first_generation_are_recognised() -> None:
    assert dcgm.is_legacy("dcgm_gpu_temp")
    assert not dcgm.is_legacy("dcgm_fi_dev_gpu_temp")
    assert not dcgm.is_legacy("DCGM_FI_DEV_GPU_TEMP")


@pytest.mark.parametrize(
    ("name", "raw", "reading"),
    [
        ("DCGM_FI_DEV_SM_CLOCK", 1980, 1.98e9),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 47_029_000, 47_029.0),
        ("DCGM_FI_DEV_THERMAL_VIOLATION", 2_500_000_000, 2.5),
        ("DCGM_FI_DEV_FB_USED", 2, 2_097_152.0),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", 99, 0.99),
        ("DCGM_FI_PROF_DRAM_ACTIVE", 0.42, 0.42),
    ],
)
def test_units_are_converted(name: str, raw: float, reading: float) -> None:
    (field,) = dcgm.fields(name)
    assert dcgm.convert(field, raw) == pytest.approx(reading, rel=1e-12)


@pytest.mark.parametrize(
    ("mask", "thermal", "brake", "cap"),
    [
        (0, 0, 0, 0),
        (0x04, 0, 0, 1),
        (0x20, 1, 0, 0),
        (0x08 | 0x40, 1, 0, 0),
        (0x08, 0, 1, 0),
        (0x08 | 0x40 | 0x80, 1, 1, 0),
        (0x04 | 0x80, 0, 1, 1),
    ],
)
def test_the_clock_mask_gives_three_flags(mask: int, thermal: int, brake: int, cap: int) -> None:
    fields = dcgm.fields("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS")
    flags = {field.channel: dcgm.convert(field, mask) for field in fields}
    assert flags == {
        "gpu_thermal_slowdown_active": thermal,
        "gpu_power_brake_active": brake,
        "gpu_power_cap_active": cap,
    }
