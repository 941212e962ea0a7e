"""R34: a mounted secret is swapped as a whole, again and again; the exporter follows each time."""

from __future__ import annotations

import io
import json
import ssl
from typing import TYPE_CHECKING

import pytest
import requests

from tests.exporter.app.bench import FakeDcgm, exporter, page, settings_text
from tests.factories import certificates
from tests.factories.mounted import Mounted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exporter.app import Exporter
    from tests.factories.certificates import Pair

pytestmark = pytest.mark.scenario


@pytest.fixture
def ca(tmp_path: Path) -> Pair:
    return certificates.authority(tmp_path / "ca")


def generation(folder: Path, ca: Pair, name: str, token: bytes) -> dict[str, bytes]:
    pair = certificates.signed(folder / name, ca, name)
    crt, key = pair.certificate.read_bytes(), pair.key.read_bytes()
    return {"tls.crt": crt, "tls.key": key, "token": token}


@pytest.fixture
def generations(tmp_path: Path, ca: Pair) -> list[dict[str, bytes]]:
    tokens = [b"zero", b"one\n", b"two\r\n", b"three"]
    return [generation(tmp_path, ca, f"g{n}", token) for n, token in enumerate(tokens)]


@pytest.fixture
def mounted(tmp_path: Path, generations) -> Mounted:
    return Mounted(tmp_path / "secret", generations[0])


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def app(tmp_path: Path, mounted: Mounted, log: io.StringIO) -> Iterator[Exporter]:
    dcgm = FakeDcgm(lambda: page(A=61.0))
    secret = mounted.folder
    tls = {"certificate": str(secret / "tls.crt"), "key": str(secret / "tls.key")}
    listen = f"tls: {json.dumps(tls)}, token_file: '{secret / 'token'}'"
    one = exporter(settings_text(dcgm.url, tmp_path, listen=listen), tmp_path, log)
    one.start()
    yield one
    one.stop()
    dcgm.close()


def shown(app: Exporter) -> bytes:
    return ssl.get_server_certificate(("127.0.0.1", app.port)).encode()


def status(app: Exporter, ca: Pair, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    url = f"https://127.0.0.1:{app.port}/metrics"
    return requests.get(url, headers=headers, verify=str(ca.certificate), timeout=5).status_code


def test_r34_every_rotation_brings_its_certificate_and_its_token(
    app: Exporter, ca: Pair, mounted: Mounted, generations
) -> None:
    assert status(app, ca, "zero") == 200
    before = "zero"
    for number, token in ((1, "one"), (2, "two"), (3, "three")):
        mounted.rotate(generations[number])
        assert shown(app).strip() == generations[number]["tls.crt"].strip()
        assert (status(app, ca, before), status(app, ca, token)) == (401, 200)
        before = token


def test_r34_a_pair_of_two_generations_keeps_the_old_pair_and_says_so(
    app: Exporter, ca: Pair, mounted: Mounted, generations, log: io.StringIO
) -> None:
    mixed = generations[1] | {"tls.key": generations[0]["tls.key"]}
    mounted.rotate(mixed)
    assert shown(app).strip() == generations[0]["tls.crt"].strip()
    assert "changed certificate refused" in log.getvalue()
    headers = {"Authorization": "Bearer one"}
    url = f"https://127.0.0.1:{app.port}/metrics"
    text = requests.get(url, headers=headers, verify=str(ca.certificate), timeout=5).text
    assert 'forewarn_certificate_reload_success{node="n1"} 0.0' in text
    mounted.rotate(generations[2])
    assert shown(app).strip() == generations[2]["tls.crt"].strip()


def test_r34_a_secret_that_is_empty_for_a_moment_lets_nobody_in_and_then_works(
    app: Exporter, ca: Pair, mounted: Mounted, generations
) -> None:
    mounted.rotate(generations[1] | {"token": b"\n"})
    assert (status(app, ca, ""), status(app, ca, "one")) == (503, 503)
    mounted.rotate(generations[1])
    assert status(app, ca, "one") == 200
