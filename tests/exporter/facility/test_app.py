"""The facility exporter as a whole: equipment in, one page out, nodes that read it."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from daemon.clocks import system_clock
from daemon.logs import logger
from daemon.settings import load, parse
from exporter.facility.app import STOP_SECONDS, FacilityExporter
from exporter.facility.settings import FacilitySettings
from exporter.rack import RackSource
from exporter.readings import Place
from exporter.settings import RackSettings
from tests.exporter.app.bench import eventually
from tests.exporter.facility.small_cdu import SECONDARY, small_cdu
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, FakeBmc, Fault

pytestmark = pytest.mark.scenario
SETTINGS = """\
listen: {{host: 127.0.0.1, port: 0}}
targets:
  - {{equipment: cdu-1, url: "{cdu}", racks: [r1, r2], interval_seconds: {interval}}}
  - {{equipment: pdu-1, url: "http://127.0.0.1:9", racks: [r1], interval_seconds: {interval}}}
racks: {{r1: ["n[1-2]"], r2: [n3]}}
"""


@pytest.fixture
def cdu() -> Iterator[FakeBmc]:
    bmc = FakeBmc(small_cdu())
    yield bmc
    bmc.close()


@pytest.fixture
def facility(cdu: FakeBmc, tmp_path: Path) -> Iterator[Callable[..., FacilityExporter]]:
    made: list[FacilityExporter] = []

    def build(interval: float = 0.1) -> FacilityExporter:
        path = tmp_path / "facility.yml"
        path.write_text(SETTINGS.format(cdu=cdu.url, interval=interval), encoding="utf-8")
        settings = load(path, FacilitySettings)
        log = logger("test", stream=io.StringIO())
        made.append(FacilityExporter(settings, log=log, version="1", path=path))
        made[-1].start()
        return made[-1]

    yield build
    for one in made:
        one.stop()


def page_when(exporter: FacilityExporter, wanted: Callable[[str], bool]) -> str:
    url = f"http://127.0.0.1:{exporter.port}/metrics"
    for _ in range(200):
        page = requests.get(url, timeout=5).text
        if wanted(page):
            return page
        time.sleep(0.02)
    return pytest.fail(f"never on the page:\n{page}")


FLOW = 'forewarn_facility_coolant_flow_liters_per_minute{equipment="cdu-1",rack="r1"} 120.0'


def test_each_piece_is_on_the_page_of_each_of_its_racks(facility) -> None:
    page = page_when(facility(), lambda text: FLOW in text and "source_up" in text)
    assert FLOW.replace("r1", "r2") in page
    assert 'equipment_info{equipment="cdu-1",kind="cdu",rack="r1"} 1.0' in page
    assert 'forewarn_facility_rack_info{node="n3",rack="r2"} 1.0' in page
    assert 'forewarn_facility_source_up{equipment="pdu-1",rack="r1"} 0.0' in page


def test_a_node_learns_of_its_rack_and_asks_no_equipment(facility, cdu: FakeBmc) -> None:
    exporter = facility(interval=30.0)
    page_when(exporter, lambda text: FLOW in text)
    before = len(cdu.requests)
    url = f"http://127.0.0.1:{exporter.port}/metrics"
    for index in range(20):
        node = f"n{index % 3 + 1}"
        source = RackSource(
            RackSettings(url=url), requests.Session(), node=node, monotonic=time.monotonic
        )
        readings = source.read(time.monotonic())
        assert readings.values[Place("rack_coolant_flow_liters_per_minute")] == 120
        source.close()
    assert len(cdu.requests) == before


def test_readings_older_than_three_cycles_leave_the_page(facility, cdu: FakeBmc) -> None:
    exporter = facility()
    page_when(exporter, lambda text: FLOW in text)
    for uri in cdu.documents:
        cdu.faults[uri] = Fault(500, b"{}")
    page = page_when(exporter, lambda text: FLOW not in text)
    assert 'forewarn_facility_source_up{equipment="cdu-1",rack="r1"} 0.0' in page
    assert "last_success_timestamp_seconds" in page


def test_the_page_is_served_at_once_while_equipment_hangs(facility, cdu: FakeBmc) -> None:
    exporter = facility()
    page_when(exporter, lambda text: FLOW in text)
    cdu.faults[SECONDARY] = Fault(delay_seconds=1.0)
    url = f"http://127.0.0.1:{exporter.port}/metrics"
    clock = system_clock()
    for _ in range(10):
        started = clock.monotonic()
        assert requests.get(url, timeout=5).status_code == 200
        assert clock.monotonic() - started < 0.5
    assert requests.get(url.replace("metrics", "healthz"), timeout=5).status_code == 200
    cdu.faults.clear()


def test_racks_are_read_again_and_a_mistake_keeps_the_old_ones(facility, tmp_path: Path) -> None:
    exporter = facility()
    path = tmp_path / "facility.yml"
    good = path.read_text(encoding="utf-8")
    path.write_text(good + "nonsense: 1\n", encoding="utf-8")
    exporter._keep_house()
    page = page_when(exporter, lambda text: "settings_reload_success 0.0" in text)
    assert 'rack_info{node="n3",rack="r2"}' in page
    path.write_text(good.replace("[n3]", "[n3, n4]"), encoding="utf-8")
    exporter._keep_house()
    page = page_when(exporter, lambda text: "settings_reload_success 1.0" in text)
    assert 'rack_info{node="n4",rack="r2"}' in page


def test_the_landing_page_says_what_answers(facility) -> None:
    exporter = facility()
    page_when(exporter, lambda text: FLOW in text)
    landing = requests.get(f"http://127.0.0.1:{exporter.port}/", timeout=5).text
    assert "cdu-1" in landing
    assert "coolant_flow_liters_per_minute" in landing


def test_stopping_ends_every_thread_but_the_pools(facility) -> None:
    exporter = facility()
    exporter.stop()
    names = {thread.name for thread in threading.enumerate()}
    assert not {name for name in names if name.startswith("collect-facility")}


def test_a_stop_is_not_as_long_as_all_that_hang_together(tmp_path: Path) -> None:
    (tmp_path / "user").write_text(USER, encoding="utf-8")
    (tmp_path / "password").write_text(PASSWORD, encoding="utf-8")
    log_in = f"username_file: {tmp_path}/user, password_file: {tmp_path}/password"
    cdus = [FakeBmc(small_cdu(), auth=True) for _ in range(6)]
    targets = "".join(
        f"  - {{equipment: cdu-{index}, url: '{cdu.url}', interval_seconds: 0.1, {log_in}}}\n"
        for index, cdu in enumerate(cdus)
    )
    text = f"listen: {{host: 127.0.0.1, port: 0}}\ntargets:\n{targets}"
    settings = parse(text, FacilitySettings, origin="test")
    one = FacilityExporter(settings, log=logger("test", stream=io.StringIO()), version="1")
    one.start()
    clock = system_clock()
    try:
        page_when(one, lambda page: page.count("coolant_flow_liters_per_minute{") == len(cdus))
        for cdu in cdus:
            cdu.faults[SECONDARY] = Fault(delay_seconds=1.3 * STOP_SECONDS)
        time.sleep(0.5)
        started = clock.monotonic()
        one.stop()
        assert clock.monotonic() - started < 3 * STOP_SECONDS
        assert [cdu.sessions for cdu in cdus] == [{}] * len(cdus)
    finally:
        for cdu in cdus:
            cdu.close()
    eventually(
        lambda: not any(t.name.startswith("collect-facility") for t in threading.enumerate()),
        "the reads that hung have ended",
    )
