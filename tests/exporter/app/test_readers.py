"""Who reads the page, how many and how slowly changes nothing for the collection."""

from __future__ import annotations

import base64
import io
import json
import socket
import threading
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import pytest
import requests

from tests.exporter.app.bench import FakeDcgm, eventually, get, series
from tests.factories import artefact, certificates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.scenario
STEP_SECONDS = 0.2


def asked(port: int, **headers: str) -> int:
    return requests.get(f"http://127.0.0.1:{port}/metrics", headers=headers, timeout=5).status_code


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_slow_and_many_readers_do_not_disturb_collection(
    tmp_path: Path, run, dcgm: FakeDcgm, stack: ExitStack
) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    app = run(step_seconds=STEP_SECONDS)
    eventually(lambda: series(app.port).get("forewarn_window_fill_ratio" + '{node="n1"}'), "a step")
    for index in range(40):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", app.port)))
        if index < 3:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
    done = threading.Event()
    pages = [0] * 4

    def read(index: int) -> None:
        while not done.is_set():
            try:
                pages[index] += get(app.port, timeout_seconds=5.0)[0] == 200
            except OSError:
                continue

    stack.callback(done.set)
    readers = [threading.Thread(target=read, args=(index,)) for index in range(4)]
    for reader in readers:
        reader.start()
    begun, reads = time.monotonic(), dcgm.requests
    worst = 0.0
    while time.monotonic() - begun < 4.0:
        asked_at = time.monotonic()
        assert get(app.port, "/healthz", timeout_seconds=5.0)[0] == 200
        worst = max(worst, time.monotonic() - asked_at)
        time.sleep(0.1)
    reads = dcgm.requests - reads
    cycles = (time.monotonic() - begun) / STEP_SECONDS
    done.set()
    for reader in readers:
        reader.join(10)
    assert reads == pytest.approx(cycles, abs=0.15 * cycles + 1)
    assert worst < 2.0
    assert sum(pages) > 20
    assert series(app.port)['forewarn_inference_failures_total{node="n1"}'] == 0


def test_the_page_asks_for_the_token_and_health_does_not(tmp_path: Path, run) -> None:
    (tmp_path / "token").write_text("first")
    app = run(listen=f"token_file: '{tmp_path / 'token'}'")
    assert asked(app.port) == 401
    assert asked(app.port, Authorization="Bearer first") == 200
    assert [get(app.port, path)[0] for path in ("/healthz", "/readyz", "/")] == [200, 200, 401]
    (tmp_path / "token").write_text("second\n")
    assert asked(app.port, Authorization="Bearer first") == 401
    assert asked(app.port, Authorization="Bearer second") == 200


def test_a_user_and_a_password_open_the_page(tmp_path: Path, run) -> None:
    (tmp_path / "name").write_text("prometheus")
    (tmp_path / "password").write_text("s3cret")
    files = f"username_file: '{tmp_path / 'name'}', password_file: '{tmp_path / 'password'}'"
    app = run(listen=files)
    right = base64.b64encode(b"prometheus:s3cret").decode()
    assert asked(app.port, Authorization=f"Basic {right}") == 200
    assert asked(app.port, Authorization="Basic " + right[::-1]) == 401


def test_with_a_client_authority_the_page_asks_for_a_certificate(tmp_path: Path, run) -> None:
    ca = certificates.authority(tmp_path)
    server = certificates.signed(tmp_path, ca, "exporter")
    client = certificates.signed(tmp_path, ca, "prometheus")
    files = {"certificate": server.certificate, "key": server.key, "client_ca": ca.certificate}
    app = run(listen=f"tls: {json.dumps(files, default=str)}")
    url = f"https://127.0.0.1:{app.port}"
    get_it = partial(requests.get, verify=str(ca.certificate), timeout=5)
    assert get_it(f"{url}/healthz").status_code == 200
    assert get_it(f"{url}/metrics").status_code == 403
    page = get_it(f"{url}/metrics", cert=tuple(map(str, client)))
    assert 'forewarn_certificate_reload_success{node="n1"} 1.0' in page.text
    assert 'forewarn_certificate_expiry_timestamp_seconds{node="n1"}' in page.text


def test_a_secret_never_reaches_log_or_page(tmp_path: Path, run) -> None:
    (tmp_path / "token").write_text("hunter2hunter2")
    log = io.StringIO()
    app = run(listen=f"token_file: '{tmp_path / 'token'}'", log=log)
    asked(app.port, Authorization="Bearer hunter2hunter2x")
    headers = {"Authorization": "Bearer hunter2hunter2"}
    page = requests.get(f"http://127.0.0.1:{app.port}/", headers=headers, timeout=5)
    assert page.status_code == 200
    assert "hunter2" not in page.text
    assert "hunter2" not in log.getvalue()
