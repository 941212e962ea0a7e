"""A stop leaves nothing behind: window on disk, no session on the BMC, port free."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest

from daemon.clocks import system_clock
from exporter import store
from tests.exporter.app.bench import FakeDcgm, eventually, get, series, settings_text
from tests.exporter.app.process import Running
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, FakeBmc, Fault
from tests.exporter.redfish.small_tree import small_tree
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.scenario
UP = 'forewarn_source_up{node="n1",source="redfish"}'


@pytest.fixture
def bmc() -> Iterator[FakeBmc]:
    bmc = FakeBmc(small_tree(), auth=True)
    yield bmc
    bmc.close()


@pytest.fixture
def running(tmp_path: Path, dcgm: FakeDcgm, bmc: FakeBmc) -> Iterator[Running]:
    (tmp_path / "user").write_text(USER)
    (tmp_path / "password").write_text(PASSWORD)
    files = f"username_file: '{tmp_path / 'user'}', password_file: '{tmp_path / 'password'}'"
    more = f"bmc: {{url: '{bmc.url}', interval_seconds: 0.2, {files}}}\n"
    artefact.write(tmp_path / "fleet.onnx")
    process = Running(settings_text(dcgm.url, tmp_path, step_seconds=0.2, more=more), tmp_path)
    eventually(lambda: series(process.port).get(UP) == 1, "the BMC is read")
    yield process
    process.kill()


def test_a_stop_saves_the_window_and_ends_the_session(
    running: Running, bmc: FakeBmc, tmp_path: Path
) -> None:
    eventually(lambda: len(bmc.sessions) == 1, "one session")
    stopped = system_clock().wall()
    assert running.stop() == 0
    assert (bmc.opened, bmc.deleted, bmc.sessions) == (1, 1, {})
    saved = store.load(tmp_path / store.FILE_NAME, node="n1", wall=float("inf"))
    assert saved is not None
    assert saved.saved_wall >= stopped - 0.2
    assert running.said()[-1]["event"] == "exporter stopped"


def test_a_stop_ends_the_session_while_a_read_hangs(running: Running, bmc: FakeBmc) -> None:
    # The BMC takes twenty seconds for what it is asked next, and answers the rest.
    bmc.requests.clear()
    for path in bmc.documents:
        bmc.faults[path] = Fault(delay_seconds=20.0)
    asked = eventually(lambda: len(bmc.requests), "a read that hangs")
    begun = time.monotonic()
    assert running.stop() == 0
    assert time.monotonic() - begun < 12.0
    assert (bmc.opened, bmc.deleted, bmc.sessions) == (1, 1, {})
    assert len(bmc.requests) == asked + 1


def test_a_stop_waits_for_nobody_who_reads_slowly(running: Running) -> None:
    deaf = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(6)]
    for connection in deaf:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
    begun = time.monotonic()
    assert running.stop() == 0
    assert time.monotonic() - begun < 8.0
    with pytest.raises(OSError, match="refused"):
        get(running.port)
    for connection in deaf:
        connection.close()
