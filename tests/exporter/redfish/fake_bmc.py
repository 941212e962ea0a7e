"""A BMC over a recorded tree, able to be as awkward as real ones.

It checks log-ins, counts sessions and sees them deleted, expands collections
well or badly, refuses, redirects, stalls and cuts bodies short, as told.
"""

from __future__ import annotations

import base64
import json
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USER, PASSWORD = "reader", "correct horse"
EXPAND = "?$expand=.($levels=1)"
AMI_KEEPS = {"@odata.id", "@odata.type", "Reading"}


@dataclass
class Fault:
    """What a path answers instead of its resource; `times` counts down, None is for ever."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    truncate: int | None = None
    times: int | None = None
    every: int = 1
    method: str = "GET"


def recorded(tree: Path) -> dict[str, dict[str, Any]]:
    """Load a recorded tree, a folder or one file, without documents that are broken upstream."""
    if tree.is_file():
        documents: dict[str, dict[str, Any]] = json.loads(tree.read_text("utf-8"))
        return documents
    return {
        "/" + str(path.parent.relative_to(tree)): json.loads(path.read_text("utf-8"))
        for path in tree.rglob("index.json")
        if _parses(path)
    }


class FakeBmc:
    """Serves `documents`, by path, on loopback."""

    def __init__(
        self,
        documents: dict[str, Any],
        *,
        auth: bool = False,
        expand: str = "honest",
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        self.documents = documents
        self.auth = auth
        self.expand = expand
        self.password = PASSWORD
        self.sessions: dict[str, str] = {}
        self.opened = self.deleted = 0
        self.session_paths = ("/redfish/v1/SessionService/Sessions",)
        self.faults: dict[str, Fault] = {}
        self.requests: list[tuple[str, str]] = []
        self.hits: Counter[str] = Counter()
        self._kept: list[socket.socket] = []
        self.on_request: Callable[[], None] = lambda: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._scheme = "http"
        if certificate is not None:
            self._scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def gets(self) -> list[str]:
        return [path for method, path in self.requests if method == "GET"]

    def hang_up(self) -> None:
        """End every connection that is kept, as a restart does."""
        for one in list(self._kept):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._kept.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        bmc = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                bmc._kept.append(self.connection)

            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                return

            def do_GET(self) -> None:
                bmc.answer(self, "GET")

            def do_POST(self) -> None:
                bmc.answer(self, "POST")

            def do_DELETE(self) -> None:
                bmc.answer(self, "DELETE")

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler, method: str) -> None:
        size = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(size)
        path = handler.path
        self.requests.append((method, path))
        self.on_request()
        fault = self._fault(method, path)
        if fault is not None:
            time.sleep(fault.delay_seconds)
            if fault.status != 200 or fault.body != b"{}":
                _send(handler, fault.status, fault.body, fault.headers, truncate=fault.truncate)
                return
        if method == "POST" and path in self.session_paths:
            self._log_in(handler, body)
        elif method == "DELETE":
            self.deleted += int(self.sessions.pop(path, None) is not None)
            _send(handler, 204, b"")
        elif method == "GET" and self._allowed(handler, path):
            cut = fault.truncate if fault is not None else None
            self._resource(handler, path, truncate=cut)
        else:
            _send(handler, 401 if method == "GET" else 405, b"{}")

    def _fault(self, method: str, path: str) -> Fault | None:
        fault = self.faults.get(path)
        if fault is None or fault.method != method or fault.times == 0:
            return None
        self.hits[path] += 1
        if self.hits[path] % fault.every:
            return None
        if fault.times is not None:
            fault.times -= 1
        return fault

    def _allowed(self, handler: BaseHTTPRequestHandler, path: str) -> bool:
        if not self.auth or path in {"/redfish/v1", "/redfish/v1/"}:
            return True
        if handler.headers.get("X-Auth-Token") in self.sessions.values():
            return True
        pair = base64.b64encode(f"{USER}:{self.password}".encode()).decode()
        return handler.headers.get("Authorization") == f"Basic {pair}"

    def _log_in(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        sent = json.loads(body)
        if sent != {"UserName": USER, "Password": self.password}:
            _send(handler, 401, b"{}")
            return
        self.opened += 1
        token, address = f"token-{self.opened}", f"{self.session_paths[0]}/{self.opened}"
        self.sessions[address] = token
        _send(handler, 201, b"{}", {"X-Auth-Token": token, "Location": address})

    def _resource(
        self, handler: BaseHTTPRequestHandler, path: str, *, truncate: int | None
    ) -> None:
        document = self.documents.get(path if "?" in path else path.rstrip("/"))
        if document is None and path.endswith(EXPAND) and self.expand != "none":
            document = self._expanded(path.removesuffix(EXPAND))
        if document is None:
            _send(handler, 404, b'{"error": {"code": "Base.1.0.ResourceMissingAtURI"}}')
            return
        _send(handler, 200, json.dumps(document).encode(), truncate=truncate)

    def _expanded(self, path: str) -> dict[str, Any] | None:
        collection = self.documents.get(path)
        if collection is None:
            return None
        members = [self._member(entry) for entry in collection.get("Members") or []]
        return {**collection, "Members": members}

    def _member(self, entry: dict[str, Any]) -> dict[str, Any]:
        document = self.documents.get(entry["@odata.id"], entry)
        if self.expand == "ami":
            return {name: value for name, value in document.items() if name in AMI_KEEPS}
        return document


def _parses(path: Path) -> bool:
    try:
        json.loads(path.read_text("utf-8"))
    except ValueError:
        return False
    return True


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: dict[str, str] | None = None,
    *,
    truncate: int | None = None,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    if truncate is not None:
        handler.close_connection = True
        body = body[:truncate]
    with suppress(ConnectionError):  # the reader gave up and left
        handler.end_headers()
        handler.wfile.write(body)
