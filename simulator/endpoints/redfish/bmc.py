"""The BMC's HTTP side: sessions, Basic authentication, expansion of collections."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
import threading
import urllib.parse
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from simulator.endpoints.redfish.shapes import ROOT, Resource, collection
from simulator.endpoints.redfish.tray import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulator.fleet import NodeReading

SESSIONS = f"{ROOT}/SessionService/Sessions"
SESSION_LIMIT = 8
SESSION_SECONDS = 1_800.0
RETRY_SECONDS = 5
PUBLIC = frozenset({ROOT, "/redfish", f"{ROOT}/odata"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """The one account of the BMC."""

    user: str
    password: str = field(repr=False)

    def match(self, user: str, password: str) -> bool:
        """Compare in constant time."""
        same_user = hmac.compare_digest(user.encode(), self.user.encode())
        return hmac.compare_digest(password.encode(), self.password.encode()) and same_user


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer."""

    status: HTTPStatus
    body: Resource | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Sessions:
    """Open sessions by token; idle ones end, and there is room for only a few."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._seen: dict[str, tuple[str, float]] = {}
        self._count = 0
        self._lock = threading.Lock()

    def open(self) -> tuple[str, str] | None:
        """Return a new id and token, or None where all places are taken."""
        with self._lock:
            self._expire()
            if len(self._seen) >= SESSION_LIMIT:
                return None
            self._count += 1
            token = secrets.token_hex(16)
            self._seen[token] = (str(self._count), self._monotonic())
            return str(self._count), token

    def holds(self, token: str) -> bool:
        """Tell whether `token` is alive, and keep it so."""
        with self._lock:
            self._expire()
            if token not in self._seen:
                return False
            self._seen[token] = (self._seen[token][0], self._monotonic())
            return True

    def close(self, identity: str) -> bool:
        """End the session with this id; False where there is none."""
        with self._lock:
            for token, (known, _) in list(self._seen.items()):
                if known == identity:
                    del self._seen[token]
                    return True
            return False

    def ids(self) -> list[str]:
        """Return the ids of open sessions."""
        with self._lock:
            self._expire()
            return [identity for identity, _ in self._seen.values()]

    def _expire(self) -> None:
        oldest = self._monotonic() - SESSION_SECONDS
        self._seen = {token: one for token, one in self._seen.items() if one[1] > oldest}


class Bmc:
    """A WSGI application over what one node shows now."""

    def __init__(
        self,
        read: Callable[[], NodeReading],
        credentials: Credentials,
        *,
        monotonic: Callable[[], float],
    ) -> None:
        self._read = read
        self._credentials = credentials
        self.sessions = Sessions(monotonic)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        answer = self._answer(environ)
        body = b"" if answer.body is None else json.dumps(answer.body).encode()
        headers = [("Content-Length", str(len(body))), ("OData-Version", "4.0"), *answer.headers]
        if body:
            headers.append(("Content-Type", "application/json"))
        start_response(f"{answer.status.value} {answer.status.phrase}", headers)
        return [body]

    def _answer(self, environ: dict[str, Any]) -> Answer:
        path = environ["PATH_INFO"].rstrip("/")
        method = environ["REQUEST_METHOD"]
        if path == SESSIONS and method == "POST":
            return self._log_in(environ)
        if path not in PUBLIC and not self._authenticated(environ):
            return _refused(HTTPStatus.UNAUTHORIZED, "NoValidSession", "Log in first.")
        if method == "DELETE" and path.startswith(SESSIONS + "/"):
            ended = self.sessions.close(path.removeprefix(SESSIONS + "/"))
            return Answer(HTTPStatus.NO_CONTENT) if ended else _missing(path)
        if method not in {"GET", "HEAD"}:
            return _refused(HTTPStatus.METHOD_NOT_ALLOWED, "ActionNotSupported", method)
        return self._get(path, environ.get("QUERY_STRING", ""))

    def _get(self, path: str, query: str) -> Answer:
        reading = self._read()
        if not reading.bmc_up:
            busy = _refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "ServiceTemporarilyUnavailable", "Busy."
            )
            retry = ("Retry-After", str(RETRY_SECONDS))
            return Answer(busy.status, busy.body, (retry,))
        if path == "/redfish":
            return Answer(HTTPStatus.OK, {"v1": ROOT + "/"})
        if path == SESSIONS:
            open_now = [f"{SESSIONS}/{identity}" for identity in self.sessions.ids()]
            return Answer(HTTPStatus.OK, collection(SESSIONS, "Session", open_now))
        resources = tree(reading)
        if path not in resources:
            return _missing(path)
        wanted = resources[path]
        if "$expand" in urllib.parse.parse_qs(query) and "Members" in wanted:
            wanted = wanted | {"Members": [resources[m["@odata.id"]] for m in wanted["Members"]]}
        return Answer(HTTPStatus.OK, wanted)

    def _log_in(self, environ: dict[str, Any]) -> Answer:
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
            asked = json.loads(environ["wsgi.input"].read(length))
            known = self._credentials.match(str(asked["UserName"]), str(asked["Password"]))
        except (ValueError, KeyError, TypeError):
            return _refused(
                HTTPStatus.BAD_REQUEST, "MalformedJSON", "UserName and Password expected."
            )
        if not known:
            return _refused(HTTPStatus.UNAUTHORIZED, "InsufficientPrivilege", "Wrong credentials.")
        opened = self.sessions.open()
        if opened is None:
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "SessionLimitExceeded", "Too many.")
        identity, token = opened
        place = f"{SESSIONS}/{identity}"
        body = {
            "@odata.id": place,
            "@odata.type": "#Session.v1_5_0.Session",
            "Id": identity,
            "Name": "User Session",
            "UserName": self._credentials.user,
        }
        return Answer(HTTPStatus.CREATED, body, (("X-Auth-Token", token), ("Location", place)))

    def _authenticated(self, environ: dict[str, Any]) -> bool:
        token = environ.get("HTTP_X_AUTH_TOKEN")
        if token is not None:
            return self.sessions.holds(token)
        scheme, _, packed = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            user, _, password = base64.b64decode(packed, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return False
        return self._credentials.match(user, password)


def _refused(status: HTTPStatus, code: str, text: str) -> Answer:
    return Answer(status, {"error": {"code": f"Base.1.18.{code}", "message": text}})


def _missing(path: str) -> Answer:
    return _refused(HTTPStatus.NOT_FOUND, "ResourceMissingAtURI", path)
