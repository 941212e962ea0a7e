"""R04: families without samples are no data, no GPUs are lost, and nothing is green."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.field_reports.gpu_node import GpuNode, healthy

BARE = b"""\
# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
"""
UP = 'forewarn_source_up{node="n1",source="dcgm"}'
EXPECTED, SEEN = 'forewarn_gpus_expected{node="n1"}', 'forewarn_gpus_seen{node="n1"}'
UNEXPLAINED = 'forewarn_gpus_unexplained{node="n1"}'


def test_r04_after_an_hour_of_eight_gpus_it_is_blind_and_eight_are_still_expected(
    tmp_path: Path,
) -> None:
    node = GpuNode(tmp_path, lambda i: (200, healthy(i).encode() if i < 120 else BARE))
    node.live(60 + 5)
    series = node.series()
    assert node.state() == "blind"
    assert series[UP] == 1
    assert series[EXPECTED] == 8
    assert SEEN not in series
    assert UNEXPLAINED not in series
    assert not [key for key in series if "probability" in key]
    assert series['forewarn_prediction_degraded{node="n1",reason="gpu_missing"}'] == 0


def test_r04_as_the_first_page_nobody_knows_how_many_there_should_be(tmp_path: Path) -> None:
    node = GpuNode(tmp_path, lambda _: (200, BARE))
    node.live(30)
    series = node.series()
    assert EXPECTED not in series
    assert SEEN not in series
    assert series[UP] == 1
    assert node.state() in {"blind", "warming_up"}
    assert not [key for key in series if "probability" in key]


@pytest.mark.parametrize("minutes", [20])
def test_r04_coming_and_going_loses_no_gpu_and_raises_no_alarm(
    tmp_path: Path, minutes: int
) -> None:
    def answer(interval: int) -> tuple[int, bytes]:
        full = interval // (2 * minutes) % 2 == 0
        return 200, healthy(interval).encode() if full else BARE

    node = GpuNode(tmp_path, answer)
    states = []
    for _ in range(6 * minutes):
        node.live(1)
        series = node.series()
        states.append(node.state())
        assert series[UP] == 1
        assert series[EXPECTED] == 8
        assert series.get(SEEN, 8) == 8
        assert series.get(UNEXPLAINED, 0) == 0
    assert {"blind", "ok"} <= {state.replace("degraded", "ok") for state in states}
    failed = 'forewarn_source_errors_total{node="n1",reason="no_samples",source="dcgm"}'
    assert series[failed] == 3 * minutes * 2
