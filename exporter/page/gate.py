"""Who may read the page: the bearer of a token, or a user with a password, or anybody."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, NamedTuple

from daemon.secrets import SecretUnreadable

if TYPE_CHECKING:
    from daemon.secrets import SecretFile

BASIC = 'Basic realm="forewarn", charset="UTF-8"'


class Refusal(NamedTuple):
    """The status line, one line for the client, and the challenge, if another answer would do."""

    status: str
    line: str
    challenge: str = ""


UNKNOWN_SECRET = Refusal("503 Service Unavailable", "the credentials cannot be checked\n")


class Gate:
    """Compares what a request presents with secrets in files, read again for each request.

    With a token and a user both configured, either opens the gate, so that a
    site can move from one to the other.  Where a secret cannot be read nobody
    is let in by it.
    """

    def __init__(
        self, *, token: SecretFile | None, user: tuple[SecretFile, SecretFile] | None
    ) -> None:
        self._token = token
        self._user = user

    def refuse(self, environ: dict[str, Any]) -> Refusal | None:
        """Return why the request is not let in, None when it is."""
        if self._token is None and self._user is None:
            return None
        claims = self._claims(environ.get("HTTP_AUTHORIZATION", ""))
        if not claims:
            return self._unauthorized("expected credentials\n")
        try:
            for secret, _ in claims:
                secret.read()
        except SecretUnreadable:
            return UNKNOWN_SECRET
        # All are compared, also after one that differs: the time tells nothing of which it was.
        outcomes = [secret.matches(presented) for secret, presented in claims]
        if not all(outcomes):
            return self._unauthorized("wrong credentials\n")
        return None

    def _claims(self, header: str) -> list[tuple[SecretFile, str]]:
        scheme, _, presented = header.partition(" ")
        if self._token is not None and scheme.lower() == "bearer":
            return [(self._token, presented.strip())]
        if self._user is not None and scheme.lower() == "basic":
            return list(zip(self._user, _decoded(presented), strict=True))
        return []

    def _unauthorized(self, line: str) -> Refusal:
        ways = ["Bearer"] if self._token is not None else []
        ways += [BASIC] if self._user is not None else []
        return Refusal("401 Unauthorized", line, ", ".join(ways))


def _decoded(presented: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(presented.strip(), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return "", ""
    name, _, password = text.partition(":")
    return name, password
