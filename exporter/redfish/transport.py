"""HTTP to one BMC and nowhere else: pinned TLS, deadlines, a body cap, no stray redirects."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, InsecureRequestWarning, TimeoutStateError
from urllib3.exceptions import ReadTimeoutError as StreamTimeout

from daemon import reach
from exporter.readings import Reason, SourceFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from exporter.redfish.settings import EndpointSettings

REDIRECTS = frozenset({301, 302, 303, 307, 308})
REDIRECT_LIMIT = 3
CHUNK_BYTES = 64 * 1024
FOREIGN = "another host"
EXPECTED = "expected a Redfish service there"


class ResourceFailed(Exception):
    """One resource could not be read; the rest of the BMC may well be."""

    def __init__(self, reason: Reason, detail: str, *, asked: bool = True) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.asked = asked
        """False when the cycle ended before it had its time, which says nothing of the resource."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer; `headers` are looked up without regard to case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Requests to the origin of `settings.url`, one at a time, each counted in `sent`.

    `monotonic` (seconds) measures the deadline set by `until`.
    """

    def __init__(self, settings: EndpointSettings, monotonic: Callable[[], float]) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._origin = _origin(settings.url)
        self._deadline = float("inf")
        self.sent = 0
        self.delivered = False
        """Whether the last request may have arrived, answered or not."""
        self._http = requests.Session()
        self._http.trust_env = False
        if settings.fingerprint:
            self._http.mount("https://", _PinnedAdapter(settings.pin))
        elif not settings.verify:
            # The operator opted out in writing; urllib3 would repeat itself at each request.
            warnings.filterwarnings("ignore", category=InsecureRequestWarning)

    def until(self, deadline: float) -> None:
        """Send nothing after `deadline` (monotonic seconds)."""
        self._deadline = deadline

    def request(
        self, method: str, path: str, *, headers: Mapping[str, str], body: Any = None
    ) -> Answer:
        """Send and follow redirects within the origin, repeating method and body.

        Raises `SourceFailed` when the BMC cannot be reached, `ResourceFailed`
        when this resource took too long, is too large or lies elsewhere.
        """
        url = self.absolute(path)
        for _ in range(REDIRECT_LIMIT):
            answer = self._send(method, url, headers, body)
            target = answer.headers.get("Location", "")
            if answer.status not in REDIRECTS or not target:
                return answer
            url = self.absolute(urljoin(url, target))
        raise ResourceFailed(
            Reason.REDIRECTED, f"{path} redirects more than {REDIRECT_LIMIT} times"
        )

    def absolute(self, path: str) -> str:
        """Return the URL of `path`; raises `ResourceFailed` where it leaves the origin.

        `$` and parentheses stay literal: several BMCs do not decode them in queries.
        """
        try:
            url = urljoin(self._settings.url.rstrip("/") + "/", path.partition("#")[0])
            same = _origin(url) == self._origin
        except ValueError as error:
            raise ResourceFailed(Reason.BAD_CONTENT, f"{path[:120]!r} is no address") from error
        if not same:
            raise ResourceFailed(Reason.REDIRECTED, f"{path[:120]!r} points to {FOREIGN}")
        return url

    def close(self) -> None:
        """Give the sockets back."""
        self._http.close()

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: Any) -> Answer:
        where = urlsplit(url).path
        left = self._deadline - self._monotonic()
        self.delivered = left > 0
        if left <= 0:
            detail = f"{where} was not asked: the cycle's time is up"
            raise ResourceFailed(Reason.TIMEOUT, detail, asked=False)
        self.sent += 1
        settings = self._settings
        in_full = left >= settings.read_timeout_seconds
        try:
            response = self._http.request(
                method,
                url,
                json=body,
                headers={"Accept": "application/json", "OData-Version": "4.0", **headers},
                timeout=(
                    min(settings.connect_timeout_seconds, left),
                    min(settings.read_timeout_seconds, left),
                ),
                verify=self._verify(),
                allow_redirects=False,
                stream=True,
            )
            with response:
                return Answer(response.status_code, response.headers, self._body(response, where))
        except requests.exceptions.ConnectTimeout as error:
            self.delivered = False
            detail = f"{settings.url}: no connection in time, {EXPECTED}"
            raise SourceFailed(Reason.TIMEOUT, detail) from error
        except (requests.exceptions.Timeout, StreamTimeout, TimeoutStateError) as error:
            detail = f"{where}: no answer in time"
            raise ResourceFailed(Reason.TIMEOUT, detail, asked=in_full) from error
        except requests.exceptions.ConnectionError as error:
            self.delivered = reach.was_sent(error)
            reason = Reason.TLS if reach.is_tls(error) else Reason.UNREACHABLE
            detail = f"{settings.url}: {reach.plainly(error)}, {EXPECTED}"
            raise SourceFailed(reason, detail) from error
        except (requests.exceptions.RequestException, HTTPError, OSError, ValueError) as error:
            if reach.is_tls(error):
                raise SourceFailed(Reason.TLS, f"{settings.url}: {reach.plainly(error)}") from error
            raise ResourceFailed(Reason.BAD_CONTENT, f"{where}: {reach.plainly(error)}") from error

    def _verify(self) -> bool | str:
        if self._settings.fingerprint:
            return False  # the pin is checked instead, on every new connection
        return self._settings.ca_file or self._settings.verify

    def _body(self, response: requests.Response, where: str) -> bytes:
        body = bytearray()
        limit = self._settings.body_limit_bytes
        while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
            body += chunk
            if len(body) > limit:
                raise ResourceFailed(Reason.TOO_LARGE, f"{where} is larger than {limit} bytes")
            if self._monotonic() >= self._deadline:
                detail = f"{where} was still arriving at the end of the cycle"
                raise ResourceFailed(Reason.TIMEOUT, detail, asked=False)
        return bytes(body)


class _PinnedAdapter(HTTPAdapter):
    """Accepts exactly the certificate whose SHA-256 is `pin`."""

    def __init__(self, pin: str) -> None:
        self._pin = pin
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, assert_fingerprint=self._pin, **kwargs)


def decode(answer: Answer, where: str) -> dict[str, Any]:
    """Return the body as a JSON object; raises `ResourceFailed` when it is none.

    Tolerates a byte order mark, control characters in strings and NaN literals.
    An `error` object in a 200 is an error.
    """
    try:
        text = answer.body.decode("utf-8-sig", errors="replace")
        document = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise ResourceFailed(Reason.BAD_CONTENT, f"{where} is not JSON: {_short(error)}") from error
    if not isinstance(document, dict):
        raise ResourceFailed(Reason.BAD_CONTENT, f"{where}: expected a JSON object")
    if "error" in document and "@odata.id" not in document:
        raise ResourceFailed(
            Reason.BAD_CONTENT, f"{where}: an error message in place of a resource"
        )
    return document


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, (parts.hostname or "").lower(), port


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
