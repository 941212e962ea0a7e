"""R34: certificate, key and token of the webhook are rotated again and again under it."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
import requests

from tests.factories import certificates
from tests.factories.mounted import Mounted
from tests.remediation.monitoring import a_post
from tests.remediation.story.conftest import embedded_site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.factories.certificates import Pair
    from tests.remediation.site import Running, Site

__all__ = ["embedded_site"]

TOKENS = (b"zero", b"one\n", b"two\r\n", b"three")


@pytest.fixture
def ca(tmp_path: Path) -> Pair:
    return certificates.authority(tmp_path / "ca")


@pytest.fixture
def generations(tmp_path: Path, ca: Pair) -> list[dict[str, bytes]]:
    made = []
    for number, token in enumerate(TOKENS):
        pair = certificates.signed(tmp_path / f"g{number}", ca, f"g{number}")
        crt, key = pair.certificate.read_bytes(), pair.key.read_bytes()
        made.append({"tls.crt": crt, "tls.key": key, "token": token})
    return made


def status(running: Running, ca: Pair, token: bytes) -> int:
    return requests.post(
        f"https://127.0.0.1:{running.app.webhook_port}/api/v1/alerts",
        json=a_post(),
        headers={"Authorization": f"Bearer {token.decode().strip()}"},
        verify=str(ca.certificate),
        timeout=5,
    ).status_code


def shown(running: Running) -> bytes:
    return ssl.get_server_certificate(("127.0.0.1", running.app.webhook_port)).encode().strip()


def test_r34_every_rotation_counts_at_the_next_connection_and_a_mixed_pair_never(
    embedded_site: Site, tmp_path: Path, ca: Pair, generations: list[dict[str, bytes]]
) -> None:
    mounted = Mounted(tmp_path / "secret", generations[0])
    secret = mounted.folder
    tls = {"certificate": str(secret / "tls.crt"), "key": str(secret / "tls.key")}
    with embedded_site.run(webhook={"tls": tls, "token_file": str(secret / "token")}) as running:
        assert status(running, ca, b"zero") == 200
        for number in (1, 2):
            mounted.rotate(generations[number])
            assert shown(running) == generations[number]["tls.crt"].strip()
            assert status(running, ca, TOKENS[number - 1]) == 401
            assert status(running, ca, TOKENS[number]) == 200
        mounted.rotate(generations[3] | {"tls.key": generations[2]["tls.key"]})
        assert shown(running) == generations[2]["tls.crt"].strip()
        mounted.rotate(generations[3])
        assert shown(running) == generations[3]["tls.crt"].strip()
        assert status(running, ca, TOKENS[3]) == 200
