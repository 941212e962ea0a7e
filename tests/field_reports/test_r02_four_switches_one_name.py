"""R02: switches that share a name cost the page, or their own channel, never the GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.field_reports.gpu_node import GpuNode, healthy

SWITCH = 'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="nvswitch0",Hostname="gpu-a17"}'
SWITCHES = "".join(f"{SWITCH} {celsius}\n" for celsius in (41, 88, 40, 41))
REFUSED = (
    b"An error has occurred while serving metrics:\n\ncollected metric "
    b'"DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT" was collected before with the same labels\n'
).ljust(900, b".")
HOUR = 60
PROBABILITY = 'forewarn_node_failure_probability{horizon="72h",node="n1"}'


@pytest.fixture
def node(tmp_path: Path) -> GpuNode:
    """Healthy for ten minutes, 500 for an hour, then four switches under one name."""

    def answer(interval: int) -> tuple[int, bytes]:
        if interval < 20:
            return 200, healthy(interval).encode()
        if interval < 20 + 2 * HOUR:
            return 500, REFUSED
        return 200, (healthy(interval) + SWITCHES).encode()

    return GpuNode(tmp_path, answer)


def test_r02_a_page_refused_as_a_whole_is_a_source_down_and_no_lost_gpu(node: GpuNode) -> None:
    node.live(10)
    assert PROBABILITY in node.series()
    node.live(HOUR)
    series = node.series()
    assert node.state() == "blind"
    assert PROBABILITY not in series
    errors = 'forewarn_source_errors_total{node="n1",reason="http_500",source="dcgm"}'
    # The breaker belongs to the collector's own pace, which this test drives by hand.
    assert series[errors] == 2 * HOUR
    assert series['forewarn_source_up{node="n1",source="dcgm"}'] == 0
    assert series['forewarn_gpus_expected{node="n1"}'] == 8
    assert 'forewarn_gpus_seen{node="n1"}' not in series
    assert 'forewarn_node_gpus_missing{node="n1"}' not in series
    assert series['forewarn_prediction_degraded{node="n1",reason="gpu_missing"}'] == 0


def test_r02_the_hottest_switch_is_shown_beside_all_gpus(node: GpuNode) -> None:
    node.live(10 + HOUR + 5)
    series = node.series()
    assert series['forewarn_node_nvswitch_temperature_celsius{node="n1"}'] == 88
    assert sum(key.startswith("forewarn_gpu_temperature_celsius{") for key in series) == 8


def test_r02_it_recovers_without_a_restart_and_the_gap_stays_a_gap(node: GpuNode) -> None:
    node.live(10 + HOUR + 8)
    assert PROBABILITY in node.series()
    filled = node.grid.view().forecast.fill_ratio
    assert filled == 1.0  # a window of eight steps, all read again
    snapshot = node.grid.view().snapshot
    assert snapshot is not None
    assert snapshot.sources["dcgm"].failures == 0
