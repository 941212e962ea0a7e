"""A post that is too large, at the door of the whole service: refused, counted, told, and gone."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.remediation.monitoring import ALERT, a_post
from tests.remediation.site import TOKEN, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.remediation.site import Running, Site

LIMIT = 20_000
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


@pytest.fixture
def running(embedded_site: Site) -> Iterator[Running]:
    embedded_site.add_nodes(1)
    with embedded_site.run(webhook={"body_limit_bytes": LIMIT}) as one:
        eventually(lambda: one.metric("leader"))
        yield one


def post(running: Running, body: Any) -> int:
    url = f"http://127.0.0.1:{running.app.webhook_port}/api/v1/alerts"
    return requests.post(url, data=body, headers=HEADERS, timeout=10).status_code


def in_chunks(body: bytes) -> Iterator[bytes]:
    """A body whose length is not told, as some proxies send it on."""
    for start in range(0, len(body), 1000):
        yield body[start : start + 1000]


def too_large(running: Running) -> float:
    return running.metric("webhook_posts_total", outcome="too_large")


def test_it_is_413_counted_and_one_line_and_the_next_post_is_heard(
    embedded_site: Site, running: Running
) -> None:
    assert post(running, b" " * (LIMIT + 1)) == 413
    assert post(running, in_chunks(b" " * 2 * LIMIT)) == 413
    assert too_large(running) == 2
    lines = [line for line in running.log() if line["event"] == "webhook body too large"]
    assert [line["expected_at_most"] for line in lines] == [LIMIT]
    assert running.post(embedded_site.monitoring.fire("n0")).status_code == 200


def test_one_in_chunks_within_the_limit_is_a_post_like_any_other(running: Running) -> None:
    body = json.dumps(a_post({**ALERT, "node": "n0"})).encode()
    assert post(running, in_chunks(body)) == 200
    assert running.metric("webhook_posts_total", outcome="accepted") == 1


def test_one_that_says_it_is_far_larger_is_refused_before_it_is_read(running: Running) -> None:
    """The server stops what would not even be worth counting the bytes of."""
    with socket.create_connection(("127.0.0.1", running.app.webhook_port), timeout=10) as client:
        head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
        client.sendall(
            f"POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\n{head}"
            f"Content-Length: {100 * LIMIT}\r\n\r\n".encode()
        )
        assert b" 413 " in client.recv(4096).splitlines()[0]
    assert post(running, b"{}") == 400
