"""The end of a certificate is the one that openssl tells."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from daemon.expiry import expiry
from tests.factories import certificates
from tests.factories.certificates import Pair

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return certificates.authority(tmp_path_factory.mktemp("expiry"))


def told(certificate: Path) -> float:
    command = ["openssl", "x509", "-noout", "-enddate", "-in", str(certificate)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return ssl.cert_time_to_seconds(said.strip().removeprefix("notAfter="))


def test_it_ends_when_openssl_says(pair: Pair) -> None:
    assert expiry(pair.certificate.read_text()) == told(pair.certificate)


def test_a_year_of_four_digits_is_one_too(tmp_path: Path) -> None:
    path = tmp_path / "far.crt"
    common = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=far", "-keyout", f"{tmp_path}/far.key"]
    subprocess.run(
        ["openssl", "req", "-x509", "-days", "40000", *common, "-out", str(path)],
        check=True,
        capture_output=True,
    )
    assert expiry(path.read_text()) == told(path)


@pytest.mark.parametrize("cut", [10, 60, 120])
def test_what_is_no_certificate_is_a_value_error(pair: Pair, cut: int) -> None:
    text = pair.certificate.read_text()
    lines = text.splitlines()
    short = "\n".join([lines[0], lines[1][: cut - cut % 4], lines[-1]])
    for broken in ("", "no certificate", short):
        with pytest.raises(ValueError):
            expiry(broken)
