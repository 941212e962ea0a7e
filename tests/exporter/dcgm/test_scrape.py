"""The manners of one request: its limits, and what each bad answer is called."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
import requests
import responses

from exporter.dcgm.scrape import DcgmSource
from exporter.readings import Reason, SourceFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

URL = "http://dcgm.test:9400/metrics"
LINE = b'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a"} 61\n'


def source(url: str = URL, deadline_seconds: float = 5.0) -> DcgmSource:
    return DcgmSource(
        url,
        requests.Session(),
        deadline_seconds=deadline_seconds,
        interval_seconds=30.0,
        monotonic=time.monotonic,
    )


def reason_of(reader: DcgmSource) -> Reason:
    with pytest.raises(SourceFailed) as failure:
        reader.read(0.0)
    assert "\n" not in str(failure.value)
    return failure.value.reason


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (302, Reason.REDIRECTED),
        (401, Reason.UNAUTHORIZED),
        (403, Reason.FORBIDDEN),
        (404, Reason.NOT_FOUND),
        (500, Reason.HTTP_500),
        (502, Reason.HTTP_OTHER),
        (503, Reason.HTTP_503),
    ],
)
def test_a_bad_status_has_its_reason_and_one_request(status: int, reason: Reason) -> None:
    with responses.RequestsMock() as web:
        web.get(URL, body=LINE, status=status, headers={"Location": "http://elsewhere.test/"})
        assert reason_of(source()) is reason
        assert len(web.calls) == 1


def test_a_log_in_page_is_not_a_page_of_samples() -> None:
    with responses.RequestsMock() as web:
        web.get(URL, body="<!doctype html>", content_type="text/html; charset=utf-8")
        assert reason_of(source()) is Reason.BAD_CONTENT


def test_a_body_over_the_cap_is_refused() -> None:
    with responses.RequestsMock() as web:
        web.get(URL, body=LINE * (17 * (1 << 20) // len(LINE)))
        assert reason_of(source()) is Reason.TOO_LARGE


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[BaseHTTPRequestHandler], None]], str]]:
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Callable[[BaseHTTPRequestHandler], None]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/metrics"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def gpus(count: int) -> bytes:
    return b"".join(LINE.replace(b"GPU-a", b"GPU-%d" % index) for index in range(count))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (gpus(257), "257 GPUs, expected a page of one node"),
        (LINE * 100_001, "100001 lines, expected a page of one node"),
    ],
    ids=["GPUs of a whole cluster", "more lines than any node has"],
)
def test_a_page_of_more_than_a_node_is_refused_before_it_is_read(body: bytes, said: str) -> None:
    with responses.RequestsMock() as web:
        web.get(URL, body=body)
        with pytest.raises(SourceFailed, match=said) as failure:
            source().read(0.0)
    assert failure.value.reason is Reason.TOO_LARGE


def test_a_name_that_is_too_long_for_one_is_nobodys() -> None:
    long = b"x" * 300
    body = (
        LINE.replace(b"GPU-a", long)
        + LINE.replace(b"}", b',pod="' + long + b'"}')
        + LINE.replace(b"GPU-a", b"GPU-b").replace(b'gpu="0"', b'gpu="' + long + b'"')
    )
    with responses.RequestsMock() as web:
        web.get(URL, body=body)
        readings = source().read(0.0)
    assert [(gpu.uuid, len(gpu.index)) for gpu in readings.gpus] == [("GPU-a", 1), ("GPU-b", 32)]
    assert readings.workloads == ()


def test_nobody_listening_is_unreachable() -> None:
    assert reason_of(source("http://127.0.0.1:9/metrics")) is Reason.UNREACHABLE


def test_a_server_that_never_answers_costs_the_deadline(serve) -> None:
    url = serve(lambda _: time.sleep(2))
    assert reason_of(source(url, deadline_seconds=0.2)) is Reason.TIMEOUT


def test_a_page_that_trickles_in_ends_at_the_deadline(serve) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(LINE), LINE))
            time.sleep(0.05)

    started = time.monotonic()
    assert reason_of(source(serve(trickle), deadline_seconds=0.2)) is Reason.TIMEOUT
    assert time.monotonic() - started < 2.5, "the whole page takes five seconds"


def test_a_connection_that_breaks_keeps_the_lines_that_came(serve) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(10 * len(LINE)))
        handler.end_headers()
        handler.wfile.write(LINE + b"DCGM_FI_DEV_POWER_US")
        handler.close_connection = True

    readings = source(serve(cut)).read(0.0)
    assert len(readings.gpus) == 1
    assert not readings.complete
    assert readings.errors[Reason.TRUNCATED] == 1
