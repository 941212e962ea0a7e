"""A BMC at its worst: the page comes at once, ages are right, sessions and passwords are kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.exporter.app.bench import (
    FakeDcgm,
    eventually,
    exporter,
    get,
    page,
    series,
    settings_text,
)
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, FakeBmc, Fault
from tests.exporter.redfish.small_tree import CHASSIS, POWER, ROOT, SYSTEM, THERMAL, small_tree

pytestmark = pytest.mark.scenario
SESSIONS = f"{ROOT}/SessionService/Sessions"
SLOTS_FULL = b'{"error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.4.RAC0218"}]}}'
INLET = 'forewarn_node_inlet_temperature_celsius{node="n1"}'
POWER_SERIES = 'forewarn_node_power_watts{node="n1"}'
LAST = 'forewarn_source_last_success_timestamp_seconds{node="n1",source="redfish"}'
UP = 'forewarn_source_up{node="n1",source="redfish"}'
PAGE_SECONDS = 0.1
CYCLE_SECONDS = 0.15


class Stage:
    """An exporter, its BMC, and the time that each page took."""

    def __init__(self, folder: Path) -> None:
        self.bmc = FakeBmc(small_tree(), auth=True)
        self.dcgm = FakeDcgm(lambda: page(a=40.0))
        user, self.password = folder / "username", folder / "password"
        user.write_text(USER, encoding="utf-8")
        self.password.write_text(PASSWORD, encoding="utf-8")
        bmc = (
            f"bmc: {{url: '{self.bmc.url}', username_file: '{user}', "
            f"password_file: '{self.password}', interval_seconds: {CYCLE_SECONDS}, "
            "deadline_seconds: 1.0, read_timeout_seconds: 0.4, busy_backoff_limit_seconds: 0.5, "
            "auth_backoff_seconds: 60}\n"
        )
        self.exporter = exporter(settings_text(self.dcgm.url, folder, more=bmc), folder)
        self.exporter.start()
        self.slowest = 0.0

    def series(self) -> dict[str, float]:
        started = time.perf_counter()
        known = series(self.exporter.port)
        self.slowest = max(self.slowest, time.perf_counter() - started)
        return known

    def reason(self, reason: str) -> float:
        key = f'forewarn_source_errors_total{{node="n1",reason="{reason}",source="redfish"}}'
        return self.series().get(key, 0.0)

    def well(self) -> bool:
        return {INLET, POWER_SERIES} <= self.series().keys()

    def wait(self, holds: Callable[[], object], what: str) -> None:
        eventually(holds, what, 20.0)

    def posts(self) -> int:
        return sum(method == "POST" for method, _ in self.bmc.requests)

    def close(self) -> None:
        self.exporter.stop()
        self.bmc.close()
        self.dcgm.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    stage.wait(stage.well, "the BMC is read")
    yield stage
    stage.close()
    # A machine that runs other tests beside may hold a page up once; a BMC must not.
    assert stage.slowest < 5 * PAGE_SECONDS


MISBEHAVIOURS: dict[str, tuple[dict[str, Fault], str]] = {
    "a path that is slow": ({THERMAL: Fault(delay_seconds=0.6)}, "timeout"),
    "a stall of twenty seconds": ({THERMAL: Fault(delay_seconds=20.0)}, "timeout"),
    "a 503 that says for how long": (
        {SYSTEM: Fault(503, b"{}", {"Retry-After": "3600"}, times=1)},
        "http_503",
    ),
    "a redirect to another host": (
        {THERMAL: Fault(302, b"", {"Location": "https://elsewhere.example" + THERMAL})},
        "redirected",
    ),
    "JSON that ends early": ({THERMAL: Fault(200, b'{"Temperatures": [{"ReadingC')}, "bad_content"),
    "a body that ends early": ({THERMAL: Fault(truncate=30)}, "unreachable"),
}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_it_misbehaves_and_recovers(stage: Stage, name: str) -> None:
    faults, reason = MISBEHAVIOURS[name]
    stage.bmc.faults.update(faults)
    stage.wait(lambda: stage.reason(reason) or stage.reason("bad_content"), f"{name}: {reason}")
    for _ in range(10):
        assert get(stage.exporter.port, "/healthz")[0] == 200
        stage.series()
    stage.bmc.faults.clear()
    stage.wait(stage.well, f"after {name}")
    assert len(stage.bmc.sessions) <= 1
    stage.exporter.stop()
    assert stage.bmc.sessions == {}


def test_the_age_of_a_bmc_that_hangs_grows_and_its_readings_leave(stage: Stage) -> None:
    last = stage.series()[LAST]
    for uri in (THERMAL, POWER, SYSTEM):
        stage.bmc.faults[uri] = Fault(delay_seconds=20.0)
    stage.wait(lambda: stage.series().get(UP) == 0.0, "it is called down")
    stage.wait(lambda: INLET not in stage.series(), "its readings leave")
    assert stage.series()[LAST] - last < 2.0


def test_sessions_that_are_lost_are_opened_again_one_at_a_time(stage: Stage) -> None:
    for lost in range(1, 4):
        stage.bmc.sessions.clear()
        stage.wait(lambda lost=lost: stage.bmc.opened == lost + 1, "a new session")  # type: ignore[misc]
    stage.wait(stage.well, "all is well")
    assert len(stage.bmc.sessions) == 1


def test_full_slots_are_not_an_overload(stage: Stage) -> None:
    stage.bmc.sessions.clear()
    stage.bmc.faults[SESSIONS] = Fault(503, SLOTS_FULL, method="POST")
    posts = stage.posts()
    stage.wait(lambda: stage.posts() > posts, "a log-in is tried")
    stage.wait(stage.well, "it is read all the same")
    assert stage.posts() == posts + 1


def test_a_refused_password_is_not_tried_past_the_brake(stage: Stage) -> None:
    stage.bmc.password = "another"
    stage.bmc.sessions.clear()
    posts = stage.posts()
    stage.wait(lambda: stage.reason("unauthorized") >= 8, "several cycles without a log-in")
    assert stage.posts() - posts == 2
    stage.password.write_text("another", encoding="utf-8")
    stage.wait(stage.well, "the changed secret is tried at once")


def test_control_characters_are_no_obstacle(stage: Stage) -> None:
    body = json.dumps(small_tree()[THERMAL]).replace("23.5", "29")
    mangled = body.replace("System Inlet", "System\rInlet\x01")
    stage.bmc.faults[THERMAL] = Fault(200, mangled.encode())
    stage.wait(lambda: stage.series().get(INLET) == 29.0, "the inlet is read")


def test_members_that_vanish_from_a_listing_keep_their_readings(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        stage.wait(stage.well, "the BMC is read")
        stage.bmc.documents[f"{ROOT}/Chassis"]["Members"] = []
        time.sleep(4 * CYCLE_SECONDS)
        assert stage.well()
        assert CHASSIS in stage.bmc.documents
    finally:
        stage.close()
