"""What the exporter reads from the simulated page and BMC is what the simulator recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
import requests

from daemon.clocks import Clock
from exporter.dcgm.scrape import DcgmSource
from exporter.readings import Place
from exporter.redfish.reader import RedfishSource
from exporter.redfish.settings import BmcSettings
from model.schema import BY_NAME, Origin
from simulator.endpoints.dcgm import gpu_uuid
from simulator.endpoints.redfish.bmc import Credentials
from simulator.fleet import Fleet, NodeReading
from simulator.instruments.shown import SHOWN
from simulator.machine import Machine
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from simulator.serving import ServedFleet
from tests.simulator.histories import HOUR, fault

CYCLES = 10
"""Enough for the reader to have taken every sensor in turn."""
READY = Scenario(workload=Workload.TRAINING)
BROKEN = [
    fault("psu-ageing", severity=0.9),
    fault("fan-wear", severity=0.9),
    fault("slow-leak", severity=1.0),
    fault("lost-feed"),
]


@contextmanager
def served(scenario: Scenario, seconds: float) -> Iterator[tuple[ServedFleet, NodeReading]]:
    fleet = Fleet(
        [Machine("n1", "r", 5, scenario)],
        monotonic=lambda: 0.0,
        speed=1.0,
        prefill_seconds=seconds,
        step_seconds=60.0,
    )
    account = Credentials("reader", "swordfish")
    with ServedFleet(fleet, account, monotonic=lambda: 0.0) as running:
        yield running, fleet.reading("n1")


def read_bmc(url: str, folder: Path) -> dict[str, float]:
    user, password = folder / "user", folder / "password"
    user.write_text("reader", encoding="utf-8")
    password.write_text("swordfish", encoding="utf-8")
    now = [1_000.0]
    clock = Clock(wall=lambda: now[0], monotonic=lambda: now[0])
    settings = BmcSettings(url=url, username_file=str(user), password_file=str(password))
    source = RedfishSource(settings, clock=clock, random=Random(1))
    found: dict[str, float] = {}
    try:
        for _ in range(CYCLES):
            now[0] += 60.0
            found |= {place.channel: v for place, v in source.read(now[0]).values.items()}
    finally:
        source.close()
    return found


@pytest.mark.parametrize("scenario", [READY, *BROKEN], ids=lambda s: s.kind)
def test_a_bmc_is_read_as_it_was_recorded(scenario: Scenario, tmp_path: Path) -> None:
    with served(scenario, 4.9 * HOUR) as (running, told):
        found = read_bmc(running.addresses[0].redfish_url, tmp_path)
    for name in SHOWN:
        if BY_NAME[name].origin is Origin.REDFISH:
            assert found[name] == pytest.approx(told.of_node(name), rel=1e-3, abs=2e-3), name


def test_a_page_is_read_as_it_was_recorded() -> None:
    with served(READY, 2 * HOUR) as (running, told), requests.Session() as session:
        session.trust_env = False
        source = DcgmSource(
            running.addresses[0].dcgm_url,
            session,
            deadline_seconds=8.0,
            interval_seconds=30.0,
            monotonic=lambda: 0.0,
        )
        seen = source.read(0.0).values
    for name in SHOWN:
        if BY_NAME[name].origin is Origin.DCGM and name != "gpu_xid_code":
            for gpu in range(8):
                wanted = float(told.gpu(name)[gpu])
                place = Place(name, gpu_uuid(5, "n1", gpu))
                assert seen[place] == pytest.approx(wanted, rel=5e-3, abs=1e-2), name
