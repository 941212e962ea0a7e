"""A page takes as long as the story says, and one of a well node takes no longer than it must."""

from __future__ import annotations

from simulator.endpoints.exporter import DcgmExporter
from simulator.scenario import Scenario
from tests.simulator.endpoints.readings import SEED, reading_at
from tests.simulator.histories import HOUR, fault


def waited(seconds: float, scenario: Scenario) -> list[float]:
    """How long the exporter made its reader wait, in simulated seconds."""
    waits: list[float] = []
    reading = reading_at(seconds, scenario)
    app = DcgmExporter(lambda: reading, SEED, wait=waits.append)
    body = app({"PATH_INFO": "/metrics"}, lambda *_: None)
    assert len(next(iter(body))) > 10_000
    return waits


def test_a_hanging_firmware_keeps_its_readers_waiting() -> None:
    told = [sum(waited(minute * 60, fault("gsp-hang", severity=1.0))) for minute in (90, 280, 290)]
    assert max(told) > 0.5
    assert max(told) < 8.0


def test_a_well_node_keeps_nobody_waiting() -> None:
    assert waited(2 * HOUR, Scenario()) == []
