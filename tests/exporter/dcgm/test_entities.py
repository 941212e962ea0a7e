"""Switches, links and profiling: what is no plain sample of one GPU."""

from __future__ import annotations

import pytest

from exporter.dcgm import identity, text
from exporter.dcgm.scrape import _wanted
from exporter.readings import Missing, Place, Reason
from tests.exporter.dcgm.pages import line

CRC = Place("gpu_nvlink_crc_errors_total", "GPU-a")
PER_LINK = "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_PER_LINK_TOTAL"


def fold(body: str) -> identity.Folded:
    page = text.read(body.encode(), _wanted)
    return identity.fold(page.samples, whole=page.whole)


def link(number: int, value: object, name: str = PER_LINK) -> str:
    return f'{name}{{nvlink="{number}",gpu="0",gpu_uuid="GPU-a",hostname="n"}} {value}\n'


def test_the_links_of_a_gpu_are_added_up_and_their_copies_are_not() -> None:
    folded = fold(line("DCGM_FI_DEV_GPU_TEMP", 61) + link(0, 2) + link(1, 5) + link(1, 5))
    assert folded.values[CRC] == 7


def test_a_sum_over_some_of_the_links_is_no_sum() -> None:
    body = line("DCGM_FI_DEV_GPU_TEMP", 61) + link(0, 2) + link(1, 9_223_372_036_854_775_794)
    folded = fold(body)
    assert folded.missing[CRC] is Missing.SENTINEL


def test_the_boards_own_total_wins_over_its_links() -> None:
    total = line("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", 11)
    assert fold(total + link(0, 2)).values[CRC] == 11


def test_a_link_alone_makes_no_gpu() -> None:
    assert fold(link(0, 2)).gpus == ()


def test_collectors_may_lower_the_case_of_names_and_labels() -> None:
    folded = fold('dcgm_fi_dev_gpu_temp{gpu="0",uuid="GPU-a",hostname="n"} 61\n')
    assert folded.values[Place("gpu_temperature_celsius", "GPU-a")] == 61


def test_of_several_switches_the_worst_is_kept() -> None:
    folded = fold(
        'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="0"} 48\n'
        'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="1"} 51\n'
        'DCGM_FI_DEV_SXID_FATAL_ERROR{nvswitch="1"} 12028\n'
    )
    assert folded.values == {
        Place("node_nvswitch_temperature_celsius"): 51,
        Place("node_nvswitch_fatal_code"): 12028,
    }
    assert folded.gpus == ()


BUSY = line("DCGM_FI_DEV_GPU_UTIL", 97)


def test_profiling_that_shows_nothing_on_a_busy_gpu_is_contradicted() -> None:
    folded = fold(
        BUSY
        + line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.000000")
        + line("DCGM_FI_PROF_DRAM_ACTIVE", "0.000000")
    )
    assert folded.missing[Place("gpu_engine_active_ratio", "GPU-a")] is Missing.CONTRADICTED
    assert folded.missing[Place("gpu_memory_active_ratio", "GPU-a")] is Missing.CONTRADICTED
    assert folded.errors[Reason.CONTRADICTED] == 2


@pytest.mark.parametrize("active", ["0.000001", "0.93"])
def test_profiling_that_shows_anything_stands(active: str) -> None:
    folded = fold(BUSY + line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", active))
    assert folded.values[Place("gpu_engine_active_ratio", "GPU-a")] == float(active)


def test_an_idle_gpu_at_zero_is_at_zero() -> None:
    body = line("DCGM_FI_DEV_GPU_UTIL", 0) + line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0)
    assert fold(body).values[Place("gpu_engine_active_ratio", "GPU-a")] == 0


def test_the_framebuffer_is_the_sum_of_its_three_parts_or_unknown() -> None:
    parts = line("DCGM_FI_DEV_FB_USED", 60_000) + line("DCGM_FI_DEV_FB_FREE", 20_000)
    total = Place("gpu_memory_total_bytes", "GPU-a")
    assert total not in fold(parts).values
    assert fold(parts + line("DCGM_FI_DEV_FB_RESERVED", 559)).values[total] == 80_559 * 2**20
    assert fold(parts + line("DCGM_FI_DEV_FB_TOTAL", 81_559)).values[total] == 81_559 * 2**20


def test_parts_of_different_instances_make_no_framebuffer() -> None:
    names = ("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED")
    body = "".join(line(name, 9_000, GPU_I_ID=i) for name in names for i in "12")
    assert Place("gpu_memory_total_bytes", "GPU-a") not in fold(body).values


def test_the_worst_health_watch_speaks_for_the_gpu_whatever_type_it_has() -> None:
    body = "# TYPE DCGM_EXP_GPU_HEALTH_STATUS counter\n" + "".join(
        line("DCGM_EXP_GPU_HEALTH_STATUS", value, health_watch=watch)
        for watch, value in {"PCIE": 0, "MEM": 20, "POWER": 10}.items()
    )
    assert fold(body).values[Place("gpu_dcgm_health", "GPU-a")] == 20
