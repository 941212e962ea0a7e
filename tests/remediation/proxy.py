"""A proxy before the API server that can hold a request back, or lose its answer."""

from __future__ import annotations

import json
import threading
from enum import Enum
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import requests
import yaml
from urllib3.exceptions import HTTPError

from tests.factories.loopback import Loopback, LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Fate(Enum):
    """What becomes of one request."""

    PASSES = "passes"
    IS_HELD = "is held: it never reaches the server"
    LOSES_ITS_ANSWER = "is done, but the answer is lost"
    IS_TURNED_AWAY = "is answered 429 by a server that has too much to do"
    IS_NOT_STORED = "is answered 500 by a server whose store takes no more writes"


_REFUSALS = {
    Fate.IS_TURNED_AWAY: (429, "TooManyRequests", "too many requests, please try again later"),
    Fate.IS_NOT_STORED: (500, "InternalError", "etcdserver: mvcc: database space exceeded"),
}


class Proxy(Loopback):
    """Plain HTTP in front of the API server that `kubeconfig` names.

    `fate` is asked for every request with method and path, `read` is told it with
    its body; `held` is set once one was held back.  What a watch tells comes
    `late_seconds` late.
    """

    def __init__(
        self,
        kubeconfig: Path,
        fate: Callable[[str, str], Fate] = lambda _method, _path: Fate.PASSES,
        read: Callable[[str, str, bytes], None] = lambda _method, _path, _body: None,
        late_seconds: float = 0.0,
    ) -> None:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.proxy = self
        super().__init__(server)
        document = yaml.safe_load(kubeconfig.read_text("utf-8"))
        cluster = document["clusters"][0]["cluster"]
        self.upstream = cluster["server"]
        self.token = document["users"][0]["user"]["token"]
        self.session = requests.Session()
        # By request and not by session: there the environment's bundle would win over it.
        self.verify = cluster.get("certificate-authority", True)
        self.fate = fate
        self.read = read
        self.late_seconds = late_seconds
        self.held = threading.Event()

    def __exit__(self, *_: object) -> None:
        super().__exit__(*_)
        self.session.close()

    def write_kubeconfig(self, path: Path) -> Path:
        named = "proxy"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": named,
            "clusters": [{"name": named, "cluster": {"server": self.url}}],
            "users": [{"name": named, "user": {"token": self.token}}],
            "contexts": [{"name": named, "context": {"cluster": named, "user": named}}],
        }
        path.write_text(yaml.safe_dump(document), "utf-8")
        return path


class _Server(LoopbackServer):
    proxy: Proxy


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _any(self) -> None:
        proxy = self.server.proxy
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        proxy.read(self.command, self.path, body)
        fate = proxy.fate(self.command, self.path)
        if fate is Fate.IS_HELD:
            proxy.held.set()
            proxy.closing.wait(30)
            self.close_connection = True
            return
        if fate in _REFUSALS:
            self._refuse(*_REFUSALS[fate])
            return
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() in {"content-type", "accept"}
        }
        headers["Authorization"] = f"Bearer {proxy.token}"
        answer = proxy.session.request(
            self.command,
            proxy.upstream + self.path,
            data=body,
            headers=headers,
            timeout=30,
            verify=proxy.verify,
            stream=True,
        )
        if "watch=" in self.path:
            self._pass_on(answer)
            return
        if fate is Fate.LOSES_ITS_ANSWER:
            answer.close()
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def _refuse(self, status: int, reason: str, message: str) -> None:
        document = {"kind": "Status", "code": status, "reason": reason, "message": message}
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)

    def _pass_on(self, answer: requests.Response) -> None:
        """Pass each event of a watch on as it comes."""
        self.close_connection = True
        self.send_response(answer.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for chunk in answer.raw.stream(1 << 16):
                self.server.proxy.closing.wait(self.server.proxy.late_seconds)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                if self.server.proxy.closing.is_set():
                    break
            self.wfile.write(b"0\r\n\r\n")
        except (OSError, HTTPError):
            return  # one of both sides is gone, which is the point of the test
        finally:
            answer.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Nothing to tell."""
