"""Reports that were seen in the field and not worked out, each with its trap."""

from __future__ import annotations

import pytest

from exporter.readings import Missing, Place
from tests.exporter.dcgm.pages import Pages, at_work, line


@pytest.fixture
def pages() -> Pages:
    return Pages()


def test_a_bandwidth_gauge_that_is_typed_a_counter_may_fall(pages: Pages) -> None:
    """NVIDIA/dcgm-exporter#417."""
    place = Place("gpu_pcie_sent_bytes_per_second", "GPU-a")
    for step, rate in enumerate([9_000_000, 4_000_000, 7_000_000, 0]):
        body = "# TYPE DCGM_FI_PROF_PCIE_TX_BYTES counter\n"
        body += at_work("GPU-a", millijoules=1 + step)
        readings = pages.read(body + line("DCGM_FI_PROF_PCIE_TX_BYTES", rate))
        assert readings.values[place] == rate


def test_a_profiling_value_that_is_always_zero_on_a_busy_gpu_is_no_rest(pages: Pages) -> None:
    """NVIDIA/dcgm-exporter#721."""
    body = line("DCGM_FI_DEV_GPU_UTIL", 99) + line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.000000")
    readings = pages.read(body)
    assert readings.missing[Place("gpu_engine_active_ratio", "GPU-a")] is Missing.CONTRADICTED


def test_a_wrong_mig_profile_changes_no_identity(pages: Pages) -> None:
    """NVIDIA/dcgm-exporter#544."""
    body = line("DCGM_FI_DEV_GPU_TEMP", 61, GPU_I_PROFILE="<<<NULL>>>", GPU_I_ID="1")
    body += line("DCGM_FI_DEV_GPU_TEMP", 63, GPU_I_PROFILE="1g.10gb", GPU_I_ID="2")
    readings = pages.read(body)
    assert [gpu.uuid for gpu in readings.gpus] == ["GPU-a"]
    assert readings.values[Place("gpu_temperature_celsius", "GPU-a")] == 63


def test_unified_memory_has_no_framebuffer_and_the_rest_is_whole(pages: Pages) -> None:
    """kubernetes-sigs/dra-driver-nvidia-gpu#1073 and #1115, leptonai/gpud#1170."""
    body = at_work("GPU-a", millijoules=1)
    body += line("DCGM_FI_DEV_MEM_COPY_UTIL", 0, pci_bus_id="0000000F:01:00.0")
    body += line("DCGM_FI_DEV_POWER_MGMT_LIMIT", "N/A")
    readings = pages.read(body)
    assert readings.missing[Place("gpu_memory_total_bytes", "GPU-a")] is Missing.ABSENT_FAMILY
    assert readings.missing[Place("gpu_power_limit_watts", "GPU-a")] is Missing.UNREADABLE
    assert readings.values[Place("gpu_temperature_celsius", "GPU-a")] == 61


def test_a_timestamp_near_1970_is_not_our_clock(pages: Pages) -> None:
    """iopsystems/rezolus#1111, status-im/nim-metrics#17."""
    readings = pages.read('DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a"} 61 1000\n')
    assert readings.values[Place("gpu_temperature_celsius", "GPU-a")] == 61
    assert readings.complete
