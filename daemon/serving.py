"""A bounded HTTP server: fixed threads, a limit on every request's time, optional TLS.

The application is any WSGI callable; this module only carries it.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cheroot import server as http
from cheroot import wsgi

from daemon.tls import VERIFIED, RenewingAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from structlog.typing import FilteringBoundLogger

    from daemon.tls import Tls

CONNECTIONS = 64
"""Open connections beyond the ones being answered; one more is closed at once."""
WRONG_SCHEME = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"this port speaks https\n"
)


class Server:
    """One listening socket with its threads.

    `threads` bounds concurrent requests; `timeout_seconds` bounds how long one
    request may take to arrive and to leave, and how long a silent connection
    stays.  A silent connection holds no thread.  Raises `TlsUnusable`.
    """

    def __init__(
        self,
        application: Any,
        *,
        host: str,
        port: int,
        threads: int = 8,
        timeout_seconds: int = 10,
        body_limit_bytes: int = 1 << 20,
        tls: Tls | None = None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        if tls is not None and tls.client_ca is not None and tls.open_paths:
            application = _KnownClients(application, tls.open_paths)
        self._server = _Http(
            (host, port),
            application,
            numthreads=threads,
            max=threads,
            timeout=timeout_seconds,
            server_name="forewarn",
            shutdown_timeout=2,
            request_queue_size=2 * CONNECTIONS,
            log=log,
        )
        # How often the serving loop looks whether it should end: its 0.5 s are felt at each stop.
        self._server.expiration_interval = 0.1
        self._server.max_request_body_size = body_limit_bytes
        self._server.max_request_header_size = 32 * 1024
        self._server.keep_alive_conn_limit = CONNECTIONS
        self._adapter = None if tls is None else RenewingAdapter(tls, log)
        self._server.ssl_adapter = self._adapter
        self._timeout_seconds = timeout_seconds
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The bound port; useful when 0 was asked for."""
        return int(self._server.bind_addr[1])

    @property
    def certificate_renewed(self) -> bool | None:
        """False while a changed certificate is refused, None without TLS."""
        return None if self._adapter is None else self._adapter.renewed

    @property
    def certificate_expires_at(self) -> float | None:
        """When the certificate in use ends, in Unix seconds; None without TLS."""
        return None if self._adapter is None else self._adapter.expires_at

    def start(self) -> None:
        """Bind and serve in the background; raises `OSError` when the address is taken."""
        self._server.prepare()
        self._thread = threading.Thread(target=self._server.serve, name="http", daemon=True)
        self._thread.start()
        threading.Thread(target=self._hurry, name="http-limit", daemon=True).start()

    def close(self) -> None:
        """Stop accepting, let running requests end, free the socket."""
        self._closed.set()
        self._server.stop()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _hurry(self) -> None:
        """Cut requests that trickle: a time-out of the socket begins anew with each byte."""
        pause = self._timeout_seconds / 4
        while not self._closed.wait(pause):
            self._server.age(pause, self._timeout_seconds)


class _Http(wsgi.Server):
    """Takes a connection to a worker only once it has something to say."""

    _connections: Any

    def __init__(self, *arguments: Any, log: FilteringBoundLogger | None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.ConnectionClass = _Connection
        self.gateway = _Gateway
        self._log = log
        self._ages: dict[_Connection, float] = {}
        self._lock = threading.Lock()

    def process_conn(self, conn: _Connection) -> None:
        """Let a new connection wait beside the idle ones, within the limit; answer the others."""
        if conn.heard:
            super().process_conn(conn)
        elif self._connections.can_add_keepalive_connection:
            conn.heard = True
            self._connections.put(conn)
        else:
            conn.cut()
            conn.close()

    def error_log(self, msg: str = "", level: int = 20, traceback: bool = False) -> None:
        """Pass on what the library says of its own failures; a client's is not worth a line."""
        if level < logging.ERROR:
            return
        if self._log is None:
            super().error_log(msg, level, traceback)
        else:
            self._log.error("http server failed", detail=msg, exc_info=traceback)

    @contextmanager
    def answering(self, conn: _Connection) -> Iterator[None]:
        """Count the age of the request that `conn` is asking."""
        with self._lock:
            self._ages[conn] = 0.0
        try:
            yield
        finally:
            with self._lock:
                del self._ages[conn]

    def age(self, seconds: float, limit_seconds: float) -> None:
        """Let all running requests grow older and cut those past the limit."""
        with self._lock:
            for conn in self._ages:
                self._ages[conn] += seconds
                if self._ages[conn] > limit_seconds:
                    conn.cut()


class _Gateway(wsgi.Gateway_10):
    """Hands a request to the application."""

    def get_environ(self) -> dict[str, Any]:  # type: ignore[override]
        """Let the application read to the end, also of a body that came in chunks."""
        environ: dict[str, Any] = super().get_environ()  # type: ignore[no-untyped-call]
        # The reader below ends where the request does; without this word a body whose length is
        # not told, as some proxies send it, would be taken for empty.
        environ["wsgi.input_terminated"] = True
        return environ


class _Connection(http.HTTPConnection):
    """One client.  TLS hands are shaken here, in a worker, where silence holds up nobody else."""

    heard = False
    _shaken = False

    def communicate(self) -> bool:
        """Answer one request; returns whether the connection stays open."""
        if not self.server.ready:
            return False  # the server stops: what still waits in line is let go
        with self.server.answering(self):
            return self._shake_hands() and bool(super().communicate())  # type: ignore[no-untyped-call]

    def cut(self) -> None:
        """End the connection under the worker that reads from it or writes to it."""
        with suppress(OSError):
            socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    def _shake_hands(self) -> bool:
        if self._shaken or self.server.ssl_adapter is None:
            return True
        try:
            self.socket.do_handshake()
            self.ssl_env = self.server.ssl_adapter.get_environ(self.socket)
        except ssl.SSLError as error:
            if error.reason == "HTTP_REQUEST":
                with suppress(OSError):
                    socket.socket.send(self.socket, WRONG_SCHEME)
            return False
        except OSError:
            return False
        self._shaken = True
        return True


class _KnownClients:
    """Lets only clients with a certificate through, except to `open_paths`."""

    def __init__(self, application: Any, open_paths: frozenset[str]) -> None:
        self._application = application
        self._open_paths = open_paths

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        known = environ.get(VERIFIED) == "SUCCESS"
        if known or environ.get("PATH_INFO") in self._open_paths:
            answer: Iterable[bytes] = self._application(environ, start_response)
            return answer
        start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"expected a client certificate\n"]
