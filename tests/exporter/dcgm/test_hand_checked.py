"""Values that were looked up in the recorded bodies by hand, generation by generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exporter.readings import Missing, Place, SourceReadings, Workload
from tests.exporter.dcgm.recorded import entries, examine, line, main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 2.0**20
CHECKED = [
    # A100, 2.x: no model label, pod labels that are empty
    ("01", "1", "gpu_sm_clock_hertz", 1395e6),
    ("01", "1", "gpu_power_watts", 287.655),
    ("01", "1", "gpu_energy_joules_total", 9_934_120.044),
    ("01", "1", "gpu_utilization_ratio", 0.97),
    ("01", "1", "gpu_memory_copy_utilization_ratio", 0.41),
    ("01", "0", "gpu_xid_code", 0),
    # A100 in MIG beside a whole one
    ("02", "0", "gpu_engine_active_ratio", 0.401),
    ("02", "0", "gpu_power_watts", 72.4),
    ("02", "1", "gpu_temperature_celsius", 30),
    ("02", "1", "gpu_utilization_ratio", 0),
    ("02", "0", "gpu_utilization_ratio", Missing.ABSENT_SERIES),
    # GB200, NVLink 5
    ("13", "3", "gpu_power_watts", 402.7),
    ("13", "3", "gpu_nvlink_recovery_errors_total", 3),
    ("13", "1", "gpu_nvlink_symbol_errors_total", 12),
    ("13", "0", "gpu_memory_temperature_celsius", 33),
    ("13", "2", "gpu_nvlink_recovery_failures_total", 0),
    ("13", "0", "gpu_nvlink_crc_errors_total", 0),
    # H100 with switches and links
    ("17", "0", "gpu_temperature_celsius", 44),
    ("17", "1", "gpu_temperature_celsius", 46),
    ("17", "0", "gpu_nvlink_crc_errors_total", 2),
    ("17", None, "node_nvswitch_temperature_celsius", 51),
    ("17", None, "node_nvswitch_fatal_code", 12_028),
    # health classes
    ("32", "0", "gpu_dcgm_health", 20),
    ("32", "0", "gpu_temperature_celsius", 70),
    # B200: a memory temperature of 0 is no sensor
    ("36", "0", "gpu_memory_temperature_celsius", Missing.ZERO_MEANS_NONE),
    ("36", "0", "gpu_memory_total_bytes", (181_000 + 1_020 + 990) * MIB),
    ("36", "0", "gpu_memory_clock_hertz", 3_996e6),
    ("36", "0", "gpu_energy_joules_total", 196_700.011),
    ("36", "0", "gpu_power_watts", 143.2),
    # H200
    ("37", "0", "gpu_tensor_active_ratio", 0.512),
    ("37", "0", "gpu_memory_active_ratio", 0.603),
    ("37", "0", "gpu_memory_used_bytes", 141_117 * MIB),
    ("37", "1", "gpu_power_watts", 76.9),
    ("37", "0", "gpu_memory_temperature_celsius", 74),
    # A100 before and after a reset
    ("42", "0", "gpu_pcie_replays_total", 61),
    ("42", "0", "gpu_memory_correctable_errors_total", 148),
    ("42", "0", "gpu_memory_correctable_errors_lifetime_total", 1_512),
    ("42", "0", "gpu_row_remap_pending", 1),
    ("42", "0", "gpu_remapped_rows_uncorrectable_total", 1),
    ("42", "0", "gpu_energy_joules_total", 9_912_001_223.344),
    ("43", "0", "gpu_pcie_replays_total", 0),
    ("43", "0", "gpu_memory_correctable_errors_total", 0),
    ("43", "0", "gpu_memory_correctable_errors_lifetime_total", 1_512),
    ("43", "0", "gpu_energy_joules_total", 44.12),
]


@pytest.fixture
def body(shared_data: Path) -> Callable[[str], SourceReadings]:
    folder = shared_data / "dcgm"
    known = entries(folder)

    def of(number: str) -> SourceReadings:
        (name,) = (name for name in known if name.startswith(f"{number}-"))
        readings = examine(folder, known[name]).readings
        assert readings is not None
        return readings

    return of


@pytest.mark.parametrize(("number", "index", "channel", "expected"), CHECKED)
def test_the_value_is_what_stands_in_the_body(
    body: Callable[[str], SourceReadings],
    number: str,
    index: str | None,
    channel: str,
    expected: float | Missing,
) -> None:
    readings = body(number)
    uuid = next((gpu.uuid for gpu in readings.gpus if gpu.index == index), None)
    place = Place(channel, uuid)
    if isinstance(expected, Missing):
        assert readings.missing[place] is expected
    else:
        assert readings.values[place] == pytest.approx(expected, rel=1e-12)


def test_shares_of_one_gpu_are_one_gpu_and_each_has_its_pod(
    body: Callable[[str], SourceReadings],
) -> None:
    shared = body("30")
    (gpu,) = shared.gpus
    assert {job.pod for job in shared.workloads} == {"nb-alice", "nb-bob", "nb-carol"}
    assert {job.uuid for job in shared.workloads} == {gpu.uuid}


def test_claims_of_dynamic_allocation_change_no_identity(
    body: Callable[[str], SourceReadings],
) -> None:
    claimed = body("45")
    (gpu,) = claimed.gpus
    assert claimed.workloads == (Workload(gpu.uuid, "team-b", "train-0", "main"),)


def test_the_table_has_a_row_for_every_body_and_one_request_each(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared_data / "dcgm"
    rows = [examine(folder, entry) for entry in entries(folder).values()]
    assert {row.requests for row in rows} == {1}
    assert all((row.readings is None) != (row.failure is None) for row in rows)
    main([str(folder)])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2 + len(rows)
    assert [text.split(" | ")[0] for text in printed[2:]] == [
        line(row).split(" | ")[0] for row in rows
    ]
