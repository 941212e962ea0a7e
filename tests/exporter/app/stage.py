"""An exporter before a BMC at its worst, and the ways in which it can be at its worst."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

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
from tests.exporter.redfish.small_tree import CHASSIS, ROOT, SYSTEM, THERMAL, small_tree

SESSIONS = f"{ROOT}/SessionService/Sessions"
SLOTS_FULL = b'{"error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.4.RAC0218"}]}}'
LOOP = json.dumps(
    {"Members": [{"@odata.id": CHASSIS}], "Members@odata.nextLink": f"{ROOT}/Chassis"}
).encode()
INLET = 'forewarn_node_inlet_temperature_celsius{node="n1"}'
POWER_SERIES = 'forewarn_node_power_watts{node="n1"}'
LAST = 'forewarn_source_last_success_timestamp_seconds{node="n1",source="redfish"}'
UP = 'forewarn_source_up{node="n1",source="redfish"}'
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
        self.pages: list[float] = []

    def series(self) -> dict[str, float]:
        started = time.perf_counter()
        known = series(self.exporter.port)
        self.pages.append(time.perf_counter() - started)
        return known

    def scrape(self, pages: int) -> None:
        """Scrape, spread over some cycles of the BMC, with the health between."""
        for _ in range(pages):
            self.series()
            assert get(self.exporter.port, "/healthz")[0] == 200, "the health hangs on a BMC"
            time.sleep(CYCLE_SECONDS / 10)

    def reason(self, reason: str) -> float:
        key = f'forewarn_source_errors_total{{node="n1",reason="{reason}",source="redfish"}}'
        return self.series().get(key, 0.0)

    def well(self) -> bool:
        return {INLET, POWER_SERIES} <= self.series().keys()

    def has_opened(self, sessions: int) -> bool:
        return self.bmc.opened == sessions

    def wait(self, holds: Callable[[], object], what: str) -> None:
        eventually(holds, what, 20.0)

    def posts(self) -> int:
        return sum(method == "POST" for method, _ in self.bmc.requests)

    def close(self) -> None:
        self.exporter.stop()
        self.bmc.close()
        self.dcgm.close()


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
    "a listing whose next page is itself": (
        {f"{ROOT}/Chassis": Fault(200, LOOP), THERMAL: Fault(500)},
        "http_500",
    ),
}
