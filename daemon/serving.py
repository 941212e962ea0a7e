"""A bounded HTTP server: fixed threads, request time-outs, optional TLS and client certificates.

The application is any WSGI callable; this module only carries it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cheroot import wsgi
from cheroot.ssl.builtin import BuiltinSSLAdapter

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tls:
    """Server certificate and key, and the CA that client certificates must chain to, if any."""

    certificate: Path
    key: Path
    client_ca: Path | None = None


class Server:
    """One listening socket with its threads.

    `threads` bounds concurrent requests; `timeout_seconds` bounds how long a
    slow client may hold one of them.
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
    ) -> None:
        self._server = wsgi.Server(
            (host, port),
            application,
            numthreads=threads,
            max=threads,
            timeout=timeout_seconds,
            server_name="forewarn",
            shutdown_timeout=2,
        )
        # How often the serving loop looks whether it should end: its 0.5 s are felt at each stop.
        self._server.expiration_interval = 0.1
        self._server.max_request_body_size = body_limit_bytes
        self._server.max_request_header_size = 32 * 1024
        if tls is not None:
            self._server.ssl_adapter = _adapter(tls)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The bound port; useful when 0 was asked for."""
        return int(self._server.bind_addr[1])

    def start(self) -> None:
        """Bind and serve in the background; raises `OSError` when the address is taken."""
        self._server.prepare()
        self._thread = threading.Thread(target=self._server.serve, name="http", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting, let running requests end, free the socket."""
        self._server.stop()
        if self._thread is not None:
            self._thread.join(timeout=5)


def _adapter(tls: Tls) -> BuiltinSSLAdapter:
    import ssl

    adapter = BuiltinSSLAdapter(str(tls.certificate), str(tls.key))
    adapter.context.minimum_version = ssl.TLSVersion.TLSv1_2
    if tls.client_ca is not None:
        adapter.context.load_verify_locations(str(tls.client_ca))
        adapter.context.verify_mode = ssl.CERT_REQUIRED
    return adapter
