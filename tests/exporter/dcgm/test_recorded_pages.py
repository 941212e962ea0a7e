"""Every recorded body through the reader: nothing crashes, nothing is invented."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exporter.readings import Missing, Place, Reason, SourceFailed, SourceReadings
from model import schema
from tests.exporter.dcgm import recorded
from tests.exporter.dcgm.recorded import examine

if TYPE_CHECKING:
    from pathlib import Path

FAILURES = {
    "14-legacy-1x-names.prom": Reason.LEGACY_NAMES,
    "15-help-and-type-only.prom": Reason.NO_SAMPLES,
    "25-http500.prom": Reason.HTTP_500,
    "26-empty-200.prom": Reason.EMPTY,
    "28-http503-capacity.prom": Reason.HTTP_503,
    "47-line-without-value.prom": Reason.LEGACY_NAMES,
    "50-no-gpu-cpu-families-only.prom": Reason.NO_SAMPLES,
}
FEWER_GPUS = {"16-exp-window-counts.prom": 1, "20-h100-after-xid79-loss.prom": 3}


def read(folder: Path, entry: dict[str, Any]) -> SourceReadings:
    row = examine(folder, entry)
    if row.failure is not None:
        raise row.failure
    assert row.readings is not None
    return row.readings


@pytest.fixture
def entries(shared_data: Path) -> dict[str, dict[str, Any]]:
    return recorded.entries(shared_data / "dcgm")


@pytest.fixture
def page(shared_data: Path, entries: dict[str, dict[str, Any]]):
    def of(number: str) -> SourceReadings:
        (name,) = (name for name in entries if name.startswith(number))
        return read(shared_data / "dcgm", entries[name])

    return of


def value(readings: SourceReadings, channel: str, index: str = "0") -> float | None:
    (uuid,) = (gpu.uuid for gpu in readings.gpus if gpu.index == index)
    return readings.values.get(Place(channel, uuid))


def test_every_body_is_read_or_refused_with_its_reason(
    shared_data: Path, entries: dict[str, dict[str, Any]]
) -> None:
    assert len(entries) == 38
    for name, entry in entries.items():
        if name in FAILURES:
            with pytest.raises(SourceFailed) as failure:
                read(shared_data / "dcgm", entry)
            assert failure.value.reason is FAILURES[name], name
            continue
        readings = read(shared_data / "dcgm", entry)
        assert len(readings.gpus) == FEWER_GPUS.get(name, entry.get("gpus", len(readings.gpus)))
        for place, number in readings.values.items():
            assert schema.BY_NAME[place.channel].plausible(number), (name, place, number)
        assert not readings.values.keys() & readings.missing.keys()


def test_both_name_generations_give_the_same_channels(page) -> None:
    new = page("39")
    assert value(new, "gpu_power_watts") == 640.2
    assert value(new, "gpu_utilization_ratio") == 0.99
    assert value(new, "gpu_temperature_margin_celsius") == 23.0
    assert value(new, "gpu_power_cap_active") == 1.0
    assert value(new, "gpu_thermal_slowdown_active") == 0.0
    assert value(new, "gpu_remapped_rows_correctable_total") == 1.0


def test_thermal_stress_sets_the_flags_of_one_gpu(page) -> None:
    stress = page("46")
    assert value(stress, "gpu_thermal_slowdown_active", "1") == 1.0
    assert value(stress, "gpu_thermal_slowdown_active", "0") == 0.0
    assert value(stress, "gpu_power_brake_active", "1") == 0.0
    assert value(stress, "gpu_pcie_link_width", "1") == 8.0


def test_not_supported_and_no_sensor_are_told_apart_from_zero(page) -> None:
    assert Missing.SENTINEL in page("04").missing.values()
    assert Missing.ZERO_MEANS_NONE in page("36").missing.values()


def test_a_cut_body_keeps_what_came_and_proves_no_absence(page) -> None:
    cut = page("24")
    assert not cut.complete
    assert cut.errors == {Reason.BAD_LINE: 1, Reason.TRUNCATED: 1}
    assert set(cut.missing.values()) == {Missing.UNREADABLE}


def test_openmetrics_is_read_by_its_own_suffixes(page) -> None:
    readings = page("29")
    assert readings.strategy == "openmetrics"
    assert value(readings, "gpu_pcie_replays_total") == 17.0


def test_text_as_value_costs_its_lines_only(page) -> None:
    readings = page("10")
    assert value(readings, "gpu_temperature_celsius") is not None


def test_the_storms_counters_differ_exactly(page) -> None:
    before, after = page("40"), page("41")
    channel = "gpu_memory_correctable_errors_total"
    first, second = value(before, channel), value(after, channel)
    assert first is not None
    assert second is not None
    assert (second - first) / 30 == pytest.approx(17650, rel=0.01)
