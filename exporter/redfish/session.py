"""One session with the BMC for the life of the process, and the brakes that keep it welcome."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from daemon.secrets import SecretFile, SecretUnreadable
from exporter.readings import Reason, SourceFailed
from exporter.redfish.transport import Answer, ResourceFailed, Transport, decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from exporter.redfish.settings import EndpointSettings

SESSIONS = "/redfish/v1/SessionService/Sessions"
OLD_SESSIONS = "/redfish/v1/Sessions"
REFUSALS_LIMIT = 2
UNANSWERED_LIMIT = 2
DEFAULT_BUSY_SECONDS = 30.0
SLOTS_FULL = b"RAC0218"
"""iDRAC's 503 for "no session slot left": the BMC is not overloaded, Basic still works."""
NOT_READY = b"SWC0700"
"""iDRAC's 400 for "still starting": transient, though 4xx."""
PASSWORD_CHANGE = b"PasswordChangeRequired"

OK, CREATED, NO_CONTENT = HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT
REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
NO_SESSION_SERVICE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
REASONS: dict[int, Reason] = {
    HTTPStatus.NOT_FOUND: Reason.NOT_FOUND,
    HTTPStatus.FORBIDDEN: Reason.FORBIDDEN,
    HTTPStatus.INTERNAL_SERVER_ERROR: Reason.HTTP_500,
}


@dataclass(frozen=True, slots=True)
class _Login:
    user: str = field(repr=False)
    password: str = field(repr=False)

    def digest(self) -> bytes:
        return hashlib.sha256(f"{self.user}\0{self.password}".encode()).digest()

    def basic(self) -> str:
        pair = f"{self.user}:{self.password}".encode()
        return "Basic " + base64.b64encode(pair).decode()


class BmcSession:
    """Authenticated GETs to one BMC.

    The token lives here and nowhere else.  Two refused log-ins in a row stop
    everything for `auth_backoff_seconds`, unless the secret's content changes;
    a BMC that says it is busy is left alone for as long as it asks, capped.
    """

    def __init__(self, settings: EndpointSettings, monotonic: Callable[[], float]) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._transport = Transport(settings, monotonic)
        self._token = ""
        self._location = ""
        self._digest = b""
        self._basic = False
        self._sessions_again_at = 0.0
        self._refusals = 0
        self._unanswered = 0
        self._stopped_until = 0.0
        self._stopped_because = Reason.UNAUTHORIZED
        self._busy_until = 0.0
        self._closing = False

    def __repr__(self) -> str:
        return f"BmcSession({self._settings.url!r})"

    @property
    def sent(self) -> int:
        """How many requests were sent so far, log-ins and redirects included."""
        return self._transport.sent

    def begin(self, deadline: float) -> None:
        """Start a cycle that ends at `deadline` (monotonic seconds); raises `SourceFailed`."""
        self._transport.until(deadline)
        wait = self._busy_until - self._monotonic()
        if wait > 0:
            raise SourceFailed(Reason.HTTP_503, f"the BMC asked to be left alone for {wait:.0f} s")

    def get(self, path: str) -> dict[str, Any]:
        """Return one resource.

        Raises `ResourceFailed` for this resource alone, `SourceFailed` when
        nothing more can be asked in this cycle.
        """
        login = self._login()
        kept = bool(self._token)
        answer = self._get_once(path, login)
        if answer.status == HTTPStatus.UNAUTHORIZED and kept:
            # BMCs drop sessions early: one new log-in, one repetition, no more.
            self._drop()
            login = self._login()
            answer = self._get_once(path, login)
        self._check(answer, path)
        self._refusals = 0
        return decode(answer, path)

    def close(self) -> None:
        """Delete the session on the BMC and close the sockets; never raises.

        A read may still hang in another thread: it will find its session gone
        and must not open another.
        """
        self._closing = True
        self._transport.until(self._monotonic() + self._settings.connect_timeout_seconds)
        self._drop()
        self._transport.close()

    def _get_once(self, path: str, login: _Login | None) -> Answer:
        headers = {}
        if login is not None:
            headers = self._authentication(login)
        return self._transport.request("GET", path, headers=headers)

    def _authentication(self, login: _Login) -> dict[str, str]:
        if self._basic and self._monotonic() >= self._sessions_again_at:
            self._basic = False
        if not self._token and not self._basic:
            self._open(login)
        if self._token:
            return {"X-Auth-Token": self._token}
        return {"Authorization": login.basic()}

    def _login(self) -> _Login | None:
        files = self._settings.credentials
        if files is None:
            return None
        try:
            login = _Login(*(SecretFile(path).read() for path in files))
        except SecretUnreadable as error:
            raise SourceFailed(Reason.SECRET_UNREADABLE, str(error)) from error
        if login.digest() != self._digest:
            self._renew(login)
        wait = self._stopped_until - self._monotonic()
        if wait > 0:
            detail = f"no log-in for another {wait:.0f} s, or until the secret changes"
            raise SourceFailed(self._stopped_because, detail)
        return login

    def _renew(self, login: _Login) -> None:
        """Start over with a secret that was not seen before."""
        self._drop()
        self._digest = login.digest()
        self._refusals = self._unanswered = 0
        self._stopped_until = 0.0

    def _open(self, login: _Login) -> None:
        if self._closing:
            raise SourceFailed(Reason.TIMEOUT, "the exporter stops: no new session")
        body = {"UserName": login.user, "Password": login.password}
        for path in (SESSIONS, OLD_SESSIONS):
            try:
                answer = self._transport.request("POST", path, headers={}, body=body)
            except (ResourceFailed, SourceFailed) as failure:
                raise self._lost(failure) from failure
            self._unanswered = 0
            if answer.status not in NO_SESSION_SERVICE:
                self._take(answer, path)
                return
        self._use_basic(float("inf"))

    def _lost(self, failure: ResourceFailed | SourceFailed) -> SourceFailed:
        """Count a log-in without an answer, which may have left a session that nobody can end.

        After two of them no more are tried for a while, and each request says who asks.
        """
        self._unanswered += self._transport.delivered
        if self._unanswered >= UNANSWERED_LIMIT:
            self._unanswered = 0
            self._use_basic(self._monotonic() + self._settings.auth_backoff_seconds)
        return SourceFailed(failure.reason, f"log-in: {failure.detail}")

    def _take(self, answer: Answer, path: str) -> None:
        if answer.status in REFUSED:
            self._refused(answer, f"log-in at {path} refused with {answer.status}")
        if answer.status in BUSY and SLOTS_FULL in answer.body:
            self._use_basic(self._monotonic() + self._settings.auth_backoff_seconds)
            return
        if answer.status in BUSY or NOT_READY in answer.body:
            self._busy(answer, path)
        if answer.status not in {OK, CREATED, NO_CONTENT}:
            raise SourceFailed(Reason.HTTP_OTHER, f"log-in at {path} answered {answer.status}")
        self._token = answer.headers.get("X-Auth-Token", "")
        self._location = answer.headers.get("Location", "") or _own_address(answer)
        if PASSWORD_CHANGE in answer.body:
            self._refused(answer, f"log-in at {path} works only to change the password")
        if not self._token:
            self._use_basic(float("inf"))

    def _check(self, answer: Answer, path: str) -> None:
        if answer.status == OK:
            return
        if answer.status == HTTPStatus.UNAUTHORIZED:
            self._refused(answer, f"{path} refused with 401")
        if answer.status == HTTPStatus.FORBIDDEN and PASSWORD_CHANGE in answer.body:
            self._refused(answer, f"{path} refused until the password is changed")
        if answer.status in BUSY or (answer.status >= 400 and NOT_READY in answer.body):
            self._busy(answer, path)
        reason = REASONS.get(answer.status, Reason.HTTP_OTHER)
        raise ResourceFailed(reason, f"{path} answered {answer.status}")

    def _refused(self, answer: Answer, detail: str) -> None:
        """Count a refusal, stop after the second; a forced password change stops at once."""
        self._drop()
        self._refusals += 1
        forced = PASSWORD_CHANGE in answer.body
        reason = Reason.PASSWORD_CHANGE_REQUIRED if forced else Reason.UNAUTHORIZED
        if forced or self._refusals >= REFUSALS_LIMIT:
            self._stopped_until = self._monotonic() + self._settings.auth_backoff_seconds
            self._stopped_because = reason
            detail += f"; next try in {self._settings.auth_backoff_seconds:.0f} s"
        raise SourceFailed(reason, detail)

    def _busy(self, answer: Answer, path: str) -> None:
        seconds = _seconds(answer.headers.get("Retry-After", ""))
        seconds = min(seconds, self._settings.busy_backoff_limit_seconds)
        self._busy_until = self._monotonic() + seconds
        detail = f"{path} answered {answer.status}: left alone for {seconds:.0f} s"
        raise SourceFailed(Reason.HTTP_503, detail)

    def _use_basic(self, until: float) -> None:
        self._basic = True
        self._sessions_again_at = until

    def _forget(self) -> None:
        self._token = self._location = ""

    def _drop(self) -> None:
        token, location = self._token, self._location
        self._forget()
        if not token or not location:
            return
        try:
            self._transport.request("DELETE", location, headers={"X-Auth-Token": token})
        except (SourceFailed, ResourceFailed):
            return  # it times out at the BMC; nothing more can be done from here


def _own_address(answer: Answer) -> str:
    try:
        address = decode(answer, SESSIONS).get("@odata.id", "")
    except ResourceFailed:
        return ""
    return address if isinstance(address, str) else ""


def _seconds(text: str) -> float:
    """Read Retry-After's number of seconds; a date or nonsense counts as the default."""
    return float(text) if text.isascii() and text.isdigit() else DEFAULT_BUSY_SECONDS
