"""What a person reads of a request that failed: our words, no library's, and what to expect."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest
import requests
import urllib3

from daemon.reach import plainly, was_sent
from exporter.dcgm.scrape import DcgmSource
from exporter.readings import Reason, SourceFailed
from exporter.redfish.settings import EndpointSettings
from exporter.redfish.transport import ResourceFailed, Transport

FOREIGN_WORDS = ("urllib3", "Max retries", "HTTPConnection", "object at 0x", "Errno", "(", "\n")


@pytest.fixture
def says() -> Iterator[Callable[[bytes], int]]:
    """Start servers that answer each connection with these bytes and hang up."""
    sockets = []

    def serve(answer: bytes) -> int:
        listening = socket.create_server(("127.0.0.1", 0))
        sockets.append(listening)

        def run() -> None:
            while True:
                try:
                    one, _ = listening.accept()
                except OSError:
                    return
                with one:
                    one.recv(65536)
                    one.sendall(answer)

        threading.Thread(target=run, daemon=True).start()
        return listening.getsockname()[1]

    yield serve
    for listening in sockets:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def failure_of(url: str, **options) -> Exception:
    kinds = (requests.RequestException, OSError, urllib3.exceptions.HTTPError)
    with pytest.raises(kinds) as failure, requests.Session() as http:
        http.trust_env = False
        http.get(url, timeout=2, **options)
    return failure.value


def test_each_failure_has_its_phrase(says: Callable[[bytes], int]) -> None:
    phrases = {
        "http://127.0.0.1:1/": "connection refused",
        f"http://127.0.0.1:{says(b'')}/": "the connection was closed before an answer came",
        f"http://127.0.0.1:{says(b'SSH-2.0-dropbear')}/": "the answer is not HTTP",
        f"https://127.0.0.1:{says(b'HTTP/1.1 400')}/": "the other side does not speak TLS",
        "http://a..b/": "the address cannot be read",
    }
    assert {url: plainly(failure_of(url)) for url in phrases} == phrases


def test_a_file_of_authorities_that_is_not_there_is_named() -> None:
    error = failure_of("https://127.0.0.1:1/", verify="/nowhere/ca.crt")
    assert plainly(error) == "the file of its authorities (ca_file) is not there"


def test_only_what_reached_the_other_side_counts_as_sent(says: Callable[[bytes], int]) -> None:
    assert not was_sent(failure_of("http://127.0.0.1:1/"))
    assert was_sent(failure_of(f"http://127.0.0.1:{says(b'')}/"))


def test_the_readers_say_where_they_asked_and_what_they_expected() -> None:
    page = DcgmSource(
        "http://127.0.0.1:1/metrics",
        requests.Session(),
        deadline_seconds=2.0,
        interval_seconds=30.0,
        monotonic=lambda: 0.0,
    )
    bmc = Transport(EndpointSettings(url="http://127.0.0.1:1"), lambda: 0.0)
    with pytest.raises(SourceFailed) as of_page:
        page.read(0.0)
    with pytest.raises((SourceFailed, ResourceFailed)) as of_bmc:
        bmc.request("GET", "/redfish/v1", headers={})
    assert of_page.value.reason is of_bmc.value.reason is Reason.UNREACHABLE
    assert of_page.value.detail == (
        "http://127.0.0.1:1/metrics: connection refused, expected the page of dcgm-exporter there"
    )
    assert of_bmc.value.detail == (
        "http://127.0.0.1:1: connection refused, expected a Redfish service there"
    )
    assert not [word for word in FOREIGN_WORDS if word in of_page.value.detail]
