"""Settings of the BMC: what is impossible is refused with what was expected."""

from __future__ import annotations

import pytest

from daemon.settings import SettingsError, parse
from exporter.redfish.settings import BmcSettings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("url: 10.0.0.7", "https://<BMC address>"),
        ("url: https://root:calvin@10.0.0.7", "they live in files"),
        ("url: https://10.0.0.7/redfish/v1", "without a path"),
        ("url: http://10.0.0.7", "sends the password in clear"),
        ("username_file: /etc/bmc/user", "together, or neither"),
        ("fingerprint: abc", "64 hexadecimal digits"),
        (f"{{fingerprint: {'ab' * 32}, verify: false}}", "one of fingerprint"),
        ("{ca_file: /ca.pem, verify: false}", "one of fingerprint"),
        ("interval_seconds: 0", "interval_seconds above 0"),
        ("read_timeout_seconds: .nan", "read_timeout_seconds above 0"),
        ("requests_per_cycle: 0", "requests_per_cycle above 0"),
        ("timeout: 3", "timeout"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected) as error:
        parse(text, BmcSettings, origin="exporter.yml")
    assert "\n" not in str(error.value)


def test_a_fingerprint_may_be_written_as_openssl_prints_it() -> None:
    text = "fingerprint: '" + ":".join(["AB"] * 32) + "'"
    assert parse(text, BmcSettings, origin="exporter.yml").pin == "ab" * 32


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://localhost", "https://10.0.0.7"])
def test_plain_http_is_for_loopback(url: str) -> None:
    assert parse(f"url: {url}", BmcSettings, origin="exporter.yml").url == url
