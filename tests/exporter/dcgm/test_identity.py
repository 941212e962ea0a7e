"""A GPU is its UUID, and copies are folded, never added up."""

from __future__ import annotations

import pytest

from exporter.dcgm import identity, text
from exporter.dcgm.scrape import _wanted
from exporter.readings import Gpu, Missing, Place, Reason, Workload


def fold(body: str) -> identity.Folded:
    page = text.read(body.encode(), _wanted)
    return identity.fold(page.samples, whole=page.whole)


def test_mig_instances_and_shares_are_one_gpu_with_the_largest_value() -> None:
    folded = fold(
        'DCGM_FI_DEV_POWER_USAGE{gpu="3",UUID="GPU-a",GPU_I_ID="1"} 100\n'
        'DCGM_FI_DEV_POWER_USAGE{gpu="3",UUID="GPU-a",GPU_I_ID="2"} 140\n'
        'DCGM_FI_DEV_POWER_USAGE{gpu="3",UUID="GPU-a",vgpu="0",pod="nb"} 120\n'
    )
    assert folded.gpus == (Gpu("GPU-a", "3"),)
    assert folded.values == {Place("gpu_power_watts", "GPU-a"): 140.0}


def test_of_two_margins_the_smaller_is_kept() -> None:
    folded = fold(
        'DCGM_FI_DEV_GPU_TEMP_LIMIT{UUID="GPU-a",GPU_I_ID="1"} 12\n'
        'DCGM_FI_DEV_GPU_TEMP_LIMIT{UUID="GPU-a",GPU_I_ID="2"} -2\n'
    )
    assert folded.values[Place("gpu_temperature_margin_celsius", "GPU-a")] == -2.0


def test_a_margin_is_made_from_the_board_constant_where_the_field_is_absent() -> None:
    folded = fold(
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a"} 61\nDCGM_FI_DEV_SLOWDOWN_TEMP{UUID="GPU-a"} 89\n'
    )
    assert folded.values[Place("gpu_temperature_margin_celsius", "GPU-a")] == 28.0
    assert "gpu_slowdown_temperature_celsius" not in {place.channel for place in folded.values}


def test_series_without_a_gpu_are_no_gpus() -> None:
    folded = fold(
        'DCGM_FI_DEV_GPU_TEMP{cpu="0",Hostname="n"} 61\n'
        'DCGM_FI_DEV_GPU_TEMP{nvswitch="0"} 41\n'
        'DCGM_FI_DEV_GPU_TEMP{UUID="<<<NULL>>>"} 0\n'
    )
    assert (folded.gpus, folded.values) == ((), {})


def test_a_gpu_of_which_only_the_latched_error_is_left_is_not_seen() -> None:
    folded = fold(
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a"} 61\nDCGM_FI_DEV_XID_ERRORS{UUID="GPU-b"} 79\n'
    )
    assert [gpu.uuid for gpu in folded.gpus] == ["GPU-a"]
    assert folded.values[Place("gpu_xid_code", "GPU-b")] == 79.0


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ("4294967295", Missing.OUT_OF_RANGE, Reason.OUT_OF_RANGE),
        ("137211", Missing.OUT_OF_RANGE, Reason.OUT_OF_RANGE),
        ("-5", Missing.OUT_OF_RANGE, Reason.OUT_OF_RANGE),
        ("NaN", Missing.NOT_FINITE, Reason.NOT_FINITE),
        ("2147483634", Missing.SENTINEL, None),
        ("9223372036854775794", Missing.SENTINEL, None),
        ("9.223372036854776e18", Missing.SENTINEL, None),
        ("140737488355328.000000", Missing.SENTINEL, None),
        ("ERROR", Missing.UNREADABLE, None),
    ],
)
def test_what_is_no_reading_has_a_kind_and_is_never_clipped(
    value: str, kind: Missing, reason: Reason | None
) -> None:
    place = Place("gpu_utilization_ratio", "GPU-a")
    folded = fold(f'DCGM_FI_DEV_GPU_UTIL{{UUID="GPU-a"}} {value}\n')
    assert folded.missing[place] is kind
    assert place not in folded.values
    assert dict(folded.errors) == ({} if reason is None else {reason: 1})


@pytest.mark.parametrize(("value", "reading"), [("1.0004", 1.0), ("1.37", None), ("0.5", 0.5)])
def test_only_rounding_above_one_counts_as_one(value: str, reading: float | None) -> None:
    folded = fold(f'DCGM_FI_PROF_GR_ENGINE_ACTIVE{{UUID="GPU-a"}} {value}\n')
    assert folded.values.get(Place("gpu_engine_active_ratio", "GPU-a")) == reading


def test_a_counter_beyond_two_to_the_31_is_a_counter() -> None:
    folded = fold('DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{UUID="GPU-a"} 54700000001\n')
    assert folded.values[Place("gpu_memory_correctable_errors_total", "GPU-a")] == 54700000001.0


def test_a_bad_mask_counts_once_though_it_feeds_three_flags() -> None:
    folded = fold('DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID="GPU-a"} 4294967295\n')
    assert folded.errors == {Reason.OUT_OF_RANGE: 1}
    assert folded.missing[Place("gpu_power_brake_active", "GPU-a")] is Missing.OUT_OF_RANGE


def test_an_absent_family_differs_from_an_absent_series() -> None:
    folded = fold(
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a"} 61\nDCGM_FI_DEV_GPU_TEMP{UUID="GPU-b"} 62\n'
        'DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a"} 300\n'
    )
    assert folded.missing[Place("gpu_power_watts", "GPU-b")] is Missing.ABSENT_SERIES
    assert folded.missing[Place("gpu_pcie_replays_total", "GPU-b")] is Missing.ABSENT_FAMILY


def test_workloads_come_from_pod_labels_but_not_from_the_exporters_own_pod() -> None:
    folded = fold(
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a",namespace="ml",pod="train-0",container="main"} 1\n'
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-b",namespace="ops",pod="nvidia-dcgm-exporter-x"} 1\n'
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-c",namespace="ops",pod="x",exported_namespace="ml",'
        'exported_pod="train-1",exported_container="main"} 1\n'
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-d",namespace="",pod="",container=""} 1\n'
    )
    assert folded.workloads == (
        Workload("GPU-a", "ml", "train-0", "main"),
        Workload("GPU-c", "ml", "train-1", "main"),
    )
