"""dcgm-exporter's HTTP side: `/metrics` and `/health`."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from simulator.endpoints.dcgm import page
from simulator.endpoints.pods import Pod, default_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulator.fleet import NodeReading

CONTENT_TYPE = "text/plain; charset=utf-8"


class DcgmExporter:
    """A WSGI application over what one node shows now; `wait` is called with simulated seconds."""

    def __init__(
        self,
        read: Callable[[], NodeReading],
        seed: int,
        pod_of: Callable[[NodeReading, int], Pod | None] = default_pod,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._wait = wait
        self._read = read
        self._seed = seed
        self._pod_of = pod_of

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request; an empty page has no Content-Type, as Go's server leaves it."""
        status, text = self._answer(environ["PATH_INFO"])
        body = text.encode()
        headers = [("Content-Length", str(len(body)))]
        if body:
            headers.append(("Content-Type", CONTENT_TYPE))
        start_response(f"{status.value} {status.phrase}", headers)
        return [body]

    def _answer(self, path: str) -> tuple[HTTPStatus, str]:
        if path == "/metrics":
            reading = self._read()
            if reading.page_up and reading.scrape_seconds > 0.0:
                self._wait(reading.scrape_seconds)
            return HTTPStatus.OK, page(reading, self._seed, self._pod_of)
        if path == "/health":
            if self._read().page_up:
                return HTTPStatus.OK, "OK"
            return HTTPStatus.SERVICE_UNAVAILABLE, "not ready"
        return HTTPStatus.NOT_FOUND, "404 page not found\n"
