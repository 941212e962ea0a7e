"""Why another program was not reached, in our own words rather than in a library's."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
from typing import TYPE_CHECKING

import urllib3

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN_HOST = "the name of the host is not known"
HUNG_UP = "the connection was closed before an answer came"
NOT_HTTP = "the answer is not HTTP"
NOT_TLS = "the other side does not speak TLS"
SPOKEN: tuple[tuple[type[BaseException], str], ...] = (
    (urllib3.exceptions.NameResolutionError, UNKNOWN_HOST),
    (socket.gaierror, UNKNOWN_HOST),
    (http.client.RemoteDisconnected, HUNG_UP),
    (urllib3.exceptions.IncompleteRead, "the connection was closed in the middle of the answer"),
    (http.client.IncompleteRead, "the connection was closed in the middle of the answer"),
    (http.client.HTTPException, NOT_HTTP),
    (urllib3.exceptions.DecodeError, "the answer cannot be unpacked"),
    (urllib3.exceptions.LocationParseError, "the address cannot be read"),
    (UnicodeError, "the address cannot be read"),
)
TLS_SPOKEN = {
    "WRONG_VERSION_NUMBER": NOT_TLS,
    "HTTP_REQUEST": NOT_TLS,
    "NO_CERTIFICATE_OR_CRL_FOUND": "the file of its authorities (ca_file) holds no certificate",
    "UNEXPECTED_EOF_WHILE_READING": "the other side hung up during the handshake",
}

NO_AUTHORITIES = "TLS CA certificate bundle"
SHOWN = re.compile(r'ingerprints did not match.*got "([0-9a-f]{64})"')


def plainly(error: BaseException) -> str:
    """Return one short phrase for what stopped a request, without addresses of objects in it."""
    causes = tuple(_causes(error))
    for cause in causes:
        for kind, words in SPOKEN:
            if isinstance(cause, kind):
                return words
    for cause in reversed(causes):
        if isinstance(cause, ssl.SSLError):
            return _tls(cause)
        if isinstance(cause, OSError) and cause.errno is not None and cause.strerror:
            return cause.strerror.lower()
    if is_tls(error):
        return _pinned(causes)
    return f"the request failed ({type(error).__name__})"


def is_tls(error: BaseException) -> bool:
    """Tell whether it was trust that failed: certificate, fingerprint or authorities."""
    return any(
        isinstance(cause, ssl.SSLError | urllib3.exceptions.SSLError)
        or NO_AUTHORITIES in str(cause)
        for cause in _causes(error)
    )


def was_sent(error: BaseException) -> bool:
    """Tell whether the request may have arrived, though no answer came back."""
    early = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)
    return not is_tls(error) and not any(isinstance(cause, early) for cause in _causes(error))


def _pinned(causes: tuple[BaseException, ...]) -> str:
    """Say what only the text of an error tells, since it has no type of its own."""
    for cause in causes:
        if NO_AUTHORITIES in str(cause):
            return "the file of its authorities (ca_file) is not there"
        if shown := SHOWN.search(str(cause)):
            return f"its certificate has another fingerprint, {shown[1]}"
    return "TLS failed"


def _tls(error: ssl.SSLError) -> str:
    said = getattr(error, "verify_message", "")
    if said:
        return f"its certificate does not verify: {said}"
    return TLS_SPOKEN.get(error.reason or "", f"TLS failed: {error.reason or 'without a reason'}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was made of, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        inner = getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            parts = (part for part in error.args if isinstance(part, BaseException))
            inner = next(parts, None) or error.__cause__ or error.__context__
        error = inner
