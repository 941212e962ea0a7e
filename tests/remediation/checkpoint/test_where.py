"""Where a pod may ask to be asked: a port of its own, and nothing that is anybody else's."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.policy.moving.checkpoints import hook_url
from tests.remediation.builders import a_pod


def asking(hook: str, **changes: Any) -> Any:
    fields = {"address": "10.1.2.3", "notes": {"forewarn.dev/checkpoint-http": hook}, **changes}
    return a_pod(**fields)


@pytest.mark.parametrize(
    ("pod", "url"),
    [
        (asking("8080"), "http://10.1.2.3:8080"),
        (asking("8080/save"), "http://10.1.2.3:8080/save"),
        (asking("9000/v1/jobs/7/save"), "http://10.1.2.3:9000/v1/jobs/7/save"),
        (asking("8080/save", address="fd00::7"), "http://[fd00::7]:8080/save"),
    ],
)
def test_a_port_of_the_pod_is_asked(pod: Any, url: str) -> None:
    assert hook_url(pod) == url


@pytest.mark.parametrize(
    "hook",
    [
        "",
        "0",
        "65536",
        "99999",
        "save",
        "8080/",
        "8080//evil.example",
        "8080@evil.example",
        "8080/save?x=1",
        "8080/save#x",
        "8080/a b",
        "8080/%2e%2e",
        "8080/save\n",
        "8080\r\nHost: x",
        "http://evil.example/",
        "evil.example:8080/save",
        "-1/save",
        "٨٠٨٠/save",
    ],
)
def test_what_is_not_a_port_and_a_plain_path_is_not_asked(hook: str) -> None:
    assert hook_url(asking(hook)) is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "metadata.internal",
        "10.1.2.3@evil",
    ],
)
def test_an_address_that_is_no_pods_is_not_asked(address: str) -> None:
    assert hook_url(asking("8080/save", address=address)) is None


def test_on_the_machines_own_network_a_port_may_be_anybodys() -> None:
    assert hook_url(asking("10250/run", host_network=True)) is None
