"""Queries to one Prometheus, or what answers its query API: bounded, patient, never fooled.

One host, a body cap, a deadline, and a limit on requests.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import requests
import urllib3

from daemon import reach
from daemon.secrets import SecretUnreadable

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from daemon.secrets import SecretFile

CHUNK_BYTES = 64 * 1024
BUSY = frozenset({429, 502, 503, 504})
BUSY_WAIT_SECONDS = 1.0
LIMIT_WORDS = re.compile(
    r"too many samples|maximum resolution|query length|exceeds? .*limit|limit exceeded"
    r"|max-(?:query-length|samples|series|chunks)|too (?:large|long)|would load too many",
    re.IGNORECASE,
)
"""What Prometheus, Thanos, Mimir and VictoriaMetrics say of a question that is too big."""


class Trouble(StrEnum):
    """Why history could not be read."""

    UNREACHABLE = "unreachable"
    UNAUTHORIZED = "unauthorized"
    SECRET_UNREADABLE = "secret_unreadable"  # noqa: S105 - a reason, not a secret
    REDIRECTED = "redirected"
    REFUSED = "refused"
    BAD_CONTENT = "bad_content"
    BUSY = "busy"
    OUT_OF_TIME = "out_of_time"
    OUT_OF_REQUESTS = "out_of_requests"
    STOPPED = "stopped"


DOUBTFUL = frozenset({Trouble.UNAUTHORIZED, Trouble.BAD_CONTENT})
"""What an expired credential looks like: a refusal, or a log-in page with status 200."""


class HistoryUnreadable(Exception):
    """No history was to be had: `trouble`, and one line for the log."""

    def __init__(self, trouble: Trouble, detail: str) -> None:
        super().__init__(f"{trouble}: {detail}")
        self.trouble = trouble
        self.detail = detail


class TooMuch(Exception):
    """The question is too big for the server or for us: a smaller one may work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where the query API is, how to be let in, and how much may be asked of it.

    `form` and `headers` go with every question: a tenant, or what one kind of
    server wants to be told.  Secrets are read anew for each request.
    """

    url: str
    ca_file: str = ""
    token: SecretFile | None = None
    user: tuple[SecretFile, SecretFile] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    deadline_seconds: float = 300.0
    """From `begin` on; beyond it nothing is asked any more."""
    timeout_seconds: float = 30.0
    requests_limit: int = 200
    body_limit_bytes: int = 32 << 20
    busy_attempts: int = 3
    """How often one question is asked of a server that is busy."""
    busy_wait_limit_seconds: float = 10.0
    """The most that a Retry-After may ask."""

    @property
    def authorization(self) -> dict[str, str]:
        """The Authorization header; raises `SecretUnreadable`."""
        if self.token is not None:
            return {"Authorization": f"Bearer {self.token.read()}"}
        if self.user is not None:
            pair = ":".join(secret.read() for secret in self.user).encode()
            return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        return {}


class Range(NamedTuple):
    """Evaluation times in wall-clock seconds, both ends included."""

    start: float
    end: float
    step: float


class Series(msgspec.Struct, frozen=True):
    """One series: its labels, and its values as text by wall-clock seconds."""

    metric: dict[str, str]
    values: list[tuple[float, str]]


class _Data(msgspec.Struct):
    resultType: str  # noqa: N815 - the wire's name
    result: list[Series]


class _Answer(msgspec.Struct):
    data: _Data


class Prometheus:
    """The query API at `access.url`.

    `monotonic` (seconds) measures the deadline set by `begin`; `stop` ends all
    waiting.  Redirects are not followed, so that no credential leaves the host,
    and neither proxies nor authorities are taken from the environment.
    """

    def __init__(
        self,
        access: Access,
        session: requests.Session,
        *,
        monotonic: Callable[[], float],
        stop: threading.Event,
    ) -> None:
        self._access = access
        self._session = session
        self._session.trust_env = False
        self._monotonic = monotonic
        self._stop = stop
        self._url = access.url.rstrip("/") + "/api/v1/query_range"
        self._deadline = 0.0
        self.sent = 0

    def begin(self) -> None:
        """Start an attempt: its time and its requests are counted from here."""
        self._deadline = self._monotonic() + self._access.deadline_seconds
        self.sent = 0

    def query_range(self, query: str, over: Range) -> list[Series]:
        """Return the matrix; raises `TooMuch`, or `HistoryUnreadable` when nothing will help."""
        form = {
            "query": query,
            "start": f"{over.start:.3f}",
            "end": f"{over.end:.3f}",
            "step": f"{over.step:.3f}",
        }
        doubted, status, attempts = False, 0, self._access.busy_attempts
        for attempt in range(1, attempts + 1):
            status, wait, body = self._post(form)
            if status in BUSY and not LIMIT_WORDS.search(_text(body)):
                self._rest(wait if wait is not None else BUSY_WAIT_SECONDS * attempt)
                continue
            try:
                return self._matrix(status, body)
            except HistoryUnreadable as failure:
                # The secret may have been rotated in this moment: it is read again, once.
                if doubted or failure.trouble not in DOUBTFUL:
                    raise
                doubted = True
        raise HistoryUnreadable(Trouble.BUSY, f"{self._url}: {status}, {attempts} times")

    def _matrix(self, status: int, body: bytes) -> list[Series]:
        """Return the matrix of an answer, or raise what it is instead."""
        if status == 200:
            return _decoded(body)
        if status in {401, 403}:
            raise HistoryUnreadable(Trouble.UNAUTHORIZED, f"{self._url}: {status}")
        raise self._refusal(status, body)

    def _post(self, form: dict[str, str]) -> tuple[int, float | None, bytes]:
        left = self._left()
        if self.sent >= self._access.requests_limit:
            raise HistoryUnreadable(
                Trouble.OUT_OF_REQUESTS, f"{self.sent} requests were not enough"
            )
        self.sent += 1
        timeout = min(self._access.timeout_seconds, left)
        try:
            # POST, since the list of channels is longer than some servers let an address be.
            with self._session.post(
                self._url,
                data={**self._access.form, **form},
                headers={**self._access.headers, **self._access.authorization},
                timeout=timeout,
                verify=self._access.ca_file or True,
                allow_redirects=False,
                stream=True,
            ) as answer:
                return answer.status_code, _retry_after(answer), self._body(answer)
        except SecretUnreadable as error:
            raise HistoryUnreadable(Trouble.SECRET_UNREADABLE, str(error)) from error
        except requests.Timeout as error:
            if self._left() <= 0 or timeout < self._access.timeout_seconds:
                raise HistoryUnreadable(Trouble.OUT_OF_TIME, f"{self._url}: too slow") from error
            raise TooMuch(f"no answer within {timeout:.0f} s") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            detail = f"{self._url}: {reach.plainly(error)}, expected a query API of Prometheus"
            raise HistoryUnreadable(Trouble.UNREACHABLE, detail) from error

    def _body(self, answer: requests.Response) -> bytes:
        body = bytearray()
        for chunk in answer.iter_content(CHUNK_BYTES):
            body += chunk
            if len(body) > self._access.body_limit_bytes:
                raise TooMuch(f"more than {self._access.body_limit_bytes} bytes")
            self._left()
        return bytes(body)

    def _refusal(self, status: int, body: bytes) -> HistoryUnreadable | TooMuch:
        said = _text(body)
        if LIMIT_WORDS.search(said) or status == 413:
            return TooMuch(said or str(status))
        trouble = Trouble.REDIRECTED if 300 <= status < 400 else Trouble.REFUSED
        return HistoryUnreadable(trouble, f"{self._url}: {status} {said}")

    def _left(self) -> float:
        """Return the seconds that are left; raises where there are none."""
        left = self._deadline - self._monotonic()
        if self._stop.is_set():
            raise HistoryUnreadable(Trouble.STOPPED, "told to stop")
        if left <= 0:
            limit = self._access.deadline_seconds
            raise HistoryUnreadable(Trouble.OUT_OF_TIME, f"not done within {limit:.0f} s")
        return left

    def _rest(self, seconds: float) -> None:
        self._stop.wait(max(0.0, min(seconds, self._access.busy_wait_limit_seconds, self._left())))


def _decoded(body: bytes) -> list[Series]:
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, UnicodeError) as error:
        detail = f"not an answer of a query API: {error}; it begins {_text(body)[:60]!r}"
        raise HistoryUnreadable(Trouble.BAD_CONTENT, detail) from error
    if answer.data.resultType != "matrix":
        detail = f"{answer.data.resultType!r}, expected a matrix"
        raise HistoryUnreadable(Trouble.BAD_CONTENT, detail)
    return answer.data.result


def _text(body: bytes) -> str:
    return " ".join(body[:2_000].decode("utf-8", errors="replace").split())[:300]


def _retry_after(answer: requests.Response) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else None
