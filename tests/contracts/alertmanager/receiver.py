"""A receiver of posts that answers each path as its name says, and keeps what came."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.factories.loopback import Loopback, LoopbackServer

SLOW_SECONDS = 30.0
ANSWERED = "/answered/200"
REDIRECTS = frozenset({301, 302, 307, 308})


@dataclass(frozen=True)
class Call:
    """One request: when it came (monotonic seconds), how, and with what in it."""

    at: float
    method: str
    path: str
    body: dict[str, Any] | None


class Receiver(Loopback):
    """Answers `/NAME/STATUS` with that status, `/slow/200` long after; a context.

    A redirection leads to a path that answers 200.
    """

    def __init__(self) -> None:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.receiver = self
        super().__init__(server)
        self.calls: list[Call] = []

    def of(self, path: str) -> list[Call]:
        """What came to one path, in its order."""
        return [call for call in self.calls if call.path == path]


class _Server(LoopbackServer):
    receiver: Receiver


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _any(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        decoded = json.loads(body) if body else None
        receiver.calls.append(Call(time.monotonic(), self.command, self.path, decoded))
        _, name, status = self.path.split("/")
        if name == "slow":
            receiver.closing.wait(SLOW_SECONDS)
        self.send_response(int(status))
        if int(status) in REDIRECTS:
            self.send_header("Location", f"/after-{status}/200")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = _any  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Nothing to tell."""
