"""TLS: a BMC is who its authority or fingerprint says, unless `verify: false` was written."""

from __future__ import annotations

import hashlib
import ssl

import pytest

from exporter.readings import Reason, SourceFailed
from tests.exporter.redfish.small_tree import small_tree
from tests.factories import certificates
from tests.factories.certificates import Pair

pytestmark = pytest.mark.scenario


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return certificates.self_signed(tmp_path_factory.mktemp("tls"), "bmc")


@pytest.fixture
def tls_bench(bench, certificate, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nonexistent")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    def build(**settings):
        return bench(small_tree(), certificate=certificate, **settings)

    return build


def fingerprint(certificate: Pair) -> str:
    der = ssl.PEM_cert_to_DER_cert(certificate.certificate.read_text(encoding="ascii"))
    return hashlib.sha256(der).hexdigest()


def test_an_unknown_authority_is_refused(tls_bench) -> None:
    with pytest.raises(SourceFailed) as failure:
        tls_bench().read()
    assert failure.value.reason is Reason.TLS


def test_a_ca_file_vouches_whatever_the_environment_says(tls_bench, certificate) -> None:
    assert tls_bench(ca_file=str(certificate.certificate)).read().values


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
