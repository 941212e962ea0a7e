"""What both HTTP edges share: JSON answers, the bearer token, a log that is not flooded."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
from werkzeug.wrappers import Response

from daemon.secrets import SecretUnreadable

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger
    from werkzeug.wrappers import Request

    from daemon.clocks import Clock
    from daemon.secrets import SecretFile

_QUIET_SECONDS = 60.0


class Admission(StrEnum):
    """What the token check found."""

    ADMITTED = "admitted"
    REFUSED = "refused"
    UNABLE = "unable"


def admission(request: Request, token: SecretFile) -> Admission:
    """Judge the bearer token of a request."""
    kind, _, presented = request.headers.get("Authorization", "").partition(" ")
    return judge(presented.strip() if kind.lower() == "bearer" else "", token)


def judge(presented: str, token: SecretFile) -> Admission:
    """Compare in constant time; without a readable secret nobody can be judged."""
    try:
        token.read()
    except SecretUnreadable:
        return Admission.UNABLE
    return Admission.ADMITTED if token.matches(presented) else Admission.REFUSED


def answer(status: int, **fields: Any) -> Response:
    """Return a JSON answer."""
    body = msgspec.json.encode(fields)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return Response(body, status=status, mimetype="application/json", headers=headers)


class SeldomLog:
    """Logs the first line of a kind, then one a minute with how many were left out.

    A sender that is wrong repeats itself: Alertmanager sends a refused body
    again at every group interval.
    """

    def __init__(self, log: FilteringBoundLogger, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def warning(self, message: str, **fields: Any) -> None:
        """Log a constant `message` with fields, if it is due."""
        now = self._clock.monotonic()
        last = self._last.get(message)
        if last is not None and now - last < _QUIET_SECONDS:
            self._left_out[message] = self._left_out.get(message, 0) + 1
            return
        self._last[message] = now
        self._log.warning(message, left_out=self._left_out.pop(message, 0), **fields)
