"""A server's certificate, followed through every rotation, and who must show one in return."""

from __future__ import annotations

import hashlib
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cheroot.makefile import MakeFile
from cheroot.ssl import Adapter

from daemon.expiry import expiry
from daemon.settings import Section

if TYPE_CHECKING:
    import socket

    from structlog.typing import FilteringBoundLogger

VERIFIED = "SSL_CLIENT_VERIFY"
"""Key of the WSGI environment: `SUCCESS` where the client showed a certificate of the CA."""


class TlsUnusable(Exception):
    """Certificate, key and CA do not make a server: which files, and why."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Server certificate and key, and the CA that client certificates must chain to, if any.

    Paths in `open_paths` are answered without a client certificate: the
    kubelet, which asks for health, has none to show.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None
    open_paths: frozenset[str] = frozenset()


class TlsSection(Section, frozen=True, kw_only=True):
    """Certificate and key files of a listener, and the CA of its clients, if they need one."""

    certificate: str
    key: str
    client_ca: str | None = None

    def files(self, *, open_paths: frozenset[str] = frozenset()) -> Tls:
        """Return the paths as the server takes them."""
        ca = Path(self.client_ca) if self.client_ca is not None else None
        return Tls(Path(self.certificate), Path(self.key), ca, open_paths)


class RenewingAdapter(Adapter):
    """Gives each new connection the certificate that is on disk.

    Contents are compared, not events or times: a mounted secret is a chain of
    symlinks that is swapped as a whole, and a watch on the file would miss the
    second swap.  A pair that does not fit together is refused, the last good
    one stays, and the next connection looks again.
    """

    def __init__(self, tls: Tls, log: FilteringBoundLogger | None) -> None:
        """Raise `TlsUnusable` where there is no good pair to begin with."""
        super().__init__(str(tls.certificate), str(tls.key))
        self._tls = tls
        self._log = log
        self._refused = b""
        self._used, self._context = self._build()
        self.renewed = True
        """False while a changed pair is refused."""
        self.expires_at: float | None = None
        """When the certificate in use ends, in Unix seconds; None where it does not tell."""
        self._tell_expiry()

    def bind(self, sock: socket.socket) -> socket.socket:
        """Return the listening socket as it is: TLS begins with each connection."""
        return sock

    def wrap(self, sock: socket.socket) -> tuple[socket.socket, dict[str, str]]:
        """Prepare a connection; the hands are shaken later, in a worker."""
        self._renew()
        wrapped = self._context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        return wrapped, {}

    def get_environ(self, sock: Any = None) -> dict[str, str]:
        """Return what the application may know of a connection whose hands were shaken."""
        verified = "SUCCESS" if sock.getpeercert() else "NONE"
        return {"wsgi.url_scheme": "https", "HTTPS": "on", VERIFIED: verified}

    def makefile(self, sock: socket.socket, mode: str = "r", bufsize: int = -1) -> Any:
        """Return a buffered reader or writer."""
        return MakeFile(sock, mode, bufsize)

    def _renew(self) -> None:
        try:
            if self._digest() == self._used:
                self.renewed = True
                return
            self._used, self._context = self._build()
        except (OSError, TlsUnusable) as error:
            self._keep(error)
        else:
            self.renewed, self._refused = True, b""
            self._tell_expiry()
            if self._log is not None:
                self._log.info("certificate renewed", path=str(self._tls.certificate))

    def _tell_expiry(self) -> None:
        try:
            self.expires_at = expiry(self._tls.certificate.read_text(encoding="ascii"))
        except (OSError, ValueError):
            self.expires_at = None

    def _keep(self, error: Exception) -> None:
        self.renewed = False
        said = str(error).encode()
        if said != self._refused and self._log is not None:
            self._log.error("changed certificate refused, the old one stays", detail=str(error))
        self._refused = said

    def _digest(self) -> bytes:
        tls = self._tls
        paths = [path for path in (tls.certificate, tls.key, tls.client_ca) if path is not None]
        parts = (hashlib.sha256(path.read_bytes()).digest() for path in paths)
        return b"".join(parts)

    def _build(self) -> tuple[bytes, ssl.SSLContext]:
        tls = self._tls
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            digest = self._digest()
            context.load_cert_chain(tls.certificate, tls.key)
            if tls.client_ca is not None:
                context.load_verify_locations(tls.client_ca)
                context.verify_mode = ssl.CERT_OPTIONAL if tls.open_paths else ssl.CERT_REQUIRED
        except OSError as error:
            files = ", ".join(str(path) for path in (tls.certificate, tls.key, tls.client_ca or ""))
            raise TlsUnusable(f"{files.rstrip(', ')}: {_why(error)}") from error
        return digest, context


def _why(error: OSError) -> str:
    if not isinstance(error, ssl.SSLError):
        return str(error)
    mismatch = error.reason in {"KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH"}
    return "the key is not the certificate's" if mismatch else "not in PEM form"
