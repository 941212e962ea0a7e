"""One HTTP API that is asked for JSON: its token, its time-out, and every way to fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests

from daemon.secrets import SecretUnreadable
from remediation.ports import CallFailed, FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daemon.secrets import SecretFile

_STATUSES = {
    401: FailureReason.UNAUTHORIZED,
    403: FailureReason.FORBIDDEN,
    404: FailureReason.NOT_FOUND,
    429: FailureReason.OVERLOADED,
    503: FailureReason.OVERLOADED,
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Endpoint:
    """One HTTP API: its base URL, its token, its time-out in seconds."""

    def __init__(
        self,
        url: str,
        *,
        session: requests.Session,
        timeout_seconds: float,
        token: SecretFile | None,
    ) -> None:
        self._url = url.rstrip("/")
        self._session = session
        self._timeout = timeout_seconds
        self._token = token

    def get(self, path: str, params: Mapping[str, str]) -> bytes:
        """Return the body of a 200; raises `CallFailed`."""
        return self._send("GET", path, params=params)

    def post(self, path: str, form: Mapping[str, str]) -> bytes:
        """Return the body of a 200; raises `CallFailed`."""
        return self._send("POST", path, form=form)

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> bytes:
        where = f"{method} {self._url}{path}"
        answer = self._ask(method, path, where, params, form)
        if self._token is not None and (answer.status_code == 401 or not _is_json(answer)):
            # A proxy that shows its log-in page: the token may have been replaced meanwhile.
            answer = self._ask(method, path, where, params, form)
        if answer.status_code in _REDIRECTS:
            message = f"{where}: {answer.status_code}, a redirect is not followed"
            raise CallFailed(message, FailureReason.BAD_CONTENT)
        if answer.status_code != 200:
            reason = _STATUSES.get(answer.status_code, FailureReason.SERVER_ERROR)
            raise CallFailed(f"{where}: {answer.status_code}, expected 200", reason)
        if not _is_json(answer):
            kind = answer.headers.get("Content-Type", "nothing")[:80]
            raise CallFailed(f"{where}: {kind}, expected JSON", FailureReason.BAD_CONTENT)
        return answer.content

    def _ask(
        self,
        method: str,
        path: str,
        where: str,
        params: Mapping[str, str] | None,
        form: Mapping[str, str] | None,
    ) -> requests.Response:
        try:
            headers = {"Authorization": f"Bearer {self._token.read()}"} if self._token else {}
            return self._session.request(
                method,
                f"{self._url}{path}",
                params=params,
                data=form,
                headers=headers,
                timeout=self._timeout,
                # The bearer token must not travel to wherever an answer points.
                allow_redirects=False,
            )
        except SecretUnreadable as error:
            raise CallFailed(f"{where}: {error}", FailureReason.UNAUTHORIZED) from error
        except requests.Timeout as error:
            raise CallFailed(f"{where}: no answer in time", FailureReason.TIMEOUT) from error
        except requests.RequestException as error:
            raise CallFailed(f"{where}: cannot connect", FailureReason.UNREACHABLE) from error


def _is_json(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().endswith("json")
