"""The socket side: HTTP/1.1 with keep-alive, and watches as chunked streams."""

from __future__ import annotations

import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from simulator.cluster.routes import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.cluster.api import Api
    from simulator.cluster.kinds import Obj


class ApiServer(ThreadingHTTPServer):
    """One thread per connection, as watches stay open; closing cuts what is still connected."""

    daemon_threads = True

    def __init__(self, api: Api, host: str, port: int) -> None:
        self.api = api
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__((host, port), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    def start(self) -> None:
        """Serve in the background; the socket has listened since construction."""
        self._thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a client that went away go; anything else is a defect and is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Stop accepting, end watches, cut kept-alive connections."""
        self.api.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join()
        with self._guard:
            for connection in self._connections:
                _hang_up(connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that `close` can cut it."""
        with self._guard:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that has ended."""
        with self._guard:
            self._connections.discard(request)
        super().shutdown_request(request)


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the client was faster


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "forewarn-embedded-cluster"
    disable_nagle_algorithm = True
    server: ApiServer

    def _serve(self) -> None:
        try:
            answer = self.server.api.answer(self._request())
            if isinstance(answer, Answer):
                self._send(answer)
            else:
                self._stream(answer.events)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names

    def _request(self) -> Request:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        return Request(
            method=self.command,
            path=url.path,
            query=dict(parse_qsl(url.query, keep_blank_values=True)),
            body=self.rfile.read(length),
            content_type=self.headers.get("Content-Type", "").split(";")[0].strip(),
            authorization=self.headers.get("Authorization", ""),
            user_agent=self.headers.get("User-Agent", ""),
        )

    def _send(self, answer: Answer) -> None:
        text = isinstance(answer.body, str)
        body = answer.body.encode() if isinstance(answer.body, str) else _encode(answer.body)
        self.send_response(answer.code)
        self.send_header("Content-Type", "text/plain" if text else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[Obj]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            line = _encode(event) + b"\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Stay quiet: the client's log is the interesting one."""


def _encode(document: Obj) -> bytes:
    return msgspec.json.encode(document)
