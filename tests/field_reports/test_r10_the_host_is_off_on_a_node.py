"""R10, the whole node: off is blind, never cool and healthy, and what comes after is warm-up."""

from __future__ import annotations

from pathlib import Path

from exporter.readings import SourceReadings
from tests.exporter.redfish.small_tree import SYSTEM, THERMAL, small_tree
from tests.field_reports.gpu_node import GpuNode, healthy
from tests.field_reports.test_r10_the_host_is_off_the_sensors_talk_on import jitter

WINDOW_STEPS = 20
OFF_MINUTES = 45
INLET = 'forewarn_node_inlet_temperature_celsius{node="n1"}'
FAN = 'forewarn_node_fan_speed_rpm{node="n1"}'
PROBABILITY = "forewarn_node_failure_probability"
HOST_OFF = 'forewarn_missing_readings{kind="host_off",node="n1"}'


def predicted(series: dict[str, float]) -> bool:
    return any(key.startswith(PROBABILITY) for key in series)


def test_r10_a_host_that_is_off_is_blind_and_warms_up_before_it_is_judged(
    tmp_path: Path, bench
) -> None:
    bmc = bench(small_tree())
    system = bmc.bmc.documents[SYSTEM]
    reads = 0

    def read() -> SourceReadings:
        nonlocal reads
        reads += 1
        if system["PowerState"] == "On":
            jitter(bmc, reads)
        return bmc.read()

    def page(interval: int) -> tuple[int, bytes]:
        return (200, healthy(interval).encode()) if system["PowerState"] == "On" else (503, b"")

    node = GpuNode(tmp_path, page, bmc=read, window_steps=WINDOW_STEPS)
    node.live(WINDOW_STEPS)
    assert predicted(node.series())
    assert {INLET, FAN} <= node.series().keys()

    system["PowerState"] = "Off"
    node.live(3)
    for _ in range(OFF_MINUTES):
        node.live()
        series = node.series()
        assert node.state() == "blind"
        assert not predicted(series)
        assert not {INLET, FAN} & series.keys()
        assert series[HOST_OFF] > 0

    system["PowerState"] = "On"
    bmc.bmc.documents[THERMAL]["Fans"][0]["Reading"] = 12_000
    states = []
    for _ in range(WINDOW_STEPS):
        node.live()
        states.append(node.state())
        assert predicted(node.series()) is (states[-1] in {"ok", "degraded"})
    assert states[0] == "warming_up"
    assert states[-1] in {"ok", "degraded"}
    assert {INLET, FAN} <= node.series().keys()
