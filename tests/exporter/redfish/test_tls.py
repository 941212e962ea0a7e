"""TLS: a BMC is who its authority or fingerprint says, unless `verify: false` was written."""

from __future__ import annotations

import hashlib
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from exporter.readings import Reason, SourceFailed
from tests.exporter.redfish.small_tree import small_tree

pytestmark = pytest.mark.scenario


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    crt, key = folder / "bmc.crt", folder / "bmc.key"
    new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bmc"
    own = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(crt)]
    subprocess.run(["openssl", *new.split(), *own], check=True, capture_output=True)
    return crt, key


@pytest.fixture
def tls_bench(bench, certificate, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nonexistent")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    def build(**settings):
        return bench(small_tree(), certificate=certificate, **settings)

    return build


def fingerprint(certificate: tuple[Path, Path]) -> str:
    der = ssl.PEM_cert_to_DER_cert(certificate[0].read_text(encoding="ascii"))
    return hashlib.sha256(der).hexdigest()


def test_an_unknown_authority_is_refused(tls_bench) -> None:
    with pytest.raises(SourceFailed) as failure:
        tls_bench().read()
    assert failure.value.reason is Reason.TLS


def test_a_ca_file_vouches_whatever_the_environment_says(tls_bench, certificate) -> None:
    assert tls_bench(ca_file=str(certificate[0])).read().values


def test_a_fingerprint_pins_the_certificate(tls_bench, certificate) -> None:
    assert tls_bench(fingerprint=fingerprint(certificate)).read().values


def test_another_fingerprint_is_refused_and_nothing_is_asked(tls_bench) -> None:
    one = tls_bench(fingerprint="00" * 32)
    with pytest.raises(SourceFailed) as failure:
        one.read()
    assert failure.value.reason is Reason.TLS
    assert one.bmc.requests == []


def test_verification_can_be_turned_off_in_writing(tls_bench) -> None:
    assert tls_bench(verify=False).read().values
