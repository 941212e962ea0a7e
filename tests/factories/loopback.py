"""A server in threads of this process, on a loopback port of its own, for as long as a test."""

from __future__ import annotations

import sys
import threading
from http.server import ThreadingHTTPServer
from typing import Any, Self


class LoopbackServer(ThreadingHTTPServer):
    """Ignores clients that hang up or are killed, which is the point of the tests, and no more."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Loopback:
    """Serves while its context is open; `closing` is set first, for handlers that wait."""

    def __init__(self, server: LoopbackServer) -> None:
        self.closing = threading.Event()
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"
