"""Asking a pod over HTTP to save its work: one short post to a port of its own.

Nothing is sent but the name of the request, nothing is read but the status, no
redirect is followed and no proxy is used: whoever writes a pod's annotations
gains nothing by pointing us somewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests

from remediation.policy.facts.snapshot import Part
from remediation.policy.moving.checkpoints import hook_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from remediation.policy.facts.pod import Pod

_DONE = frozenset({200, 204})
_WORKING = 202
_UNSUPPORTED = frozenset({404, 405, 501})


class HttpHook:
    """See `remediation.ports.CheckpointHook`; a call takes at most twice `timeout_seconds`."""

    def __init__(
        self, *, timeout_seconds: float, url_of: Callable[[Pod], str | None] = hook_url
    ) -> None:
        self._timeout = timeout_seconds
        self._url_of = url_of
        self._session = requests.Session()
        self._session.trust_env = False

    def close(self) -> None:
        """Free the sockets."""
        self._session.close()

    def ask(self, pod: Pod, name: str) -> Part:
        """Ask `pod` to save its work under `name`; asking twice is asking once."""
        url = self._url_of(pod)
        if url is None:
            return Part.UNSUPPORTED
        try:
            # With the body left unread, an endless one costs nothing.
            with self._session.post(
                url,
                json={"id": name},
                timeout=self._timeout,
                allow_redirects=False,
                stream=True,
            ) as answer:
                return _part(answer.status_code)
        except requests.ReadTimeout:
            # It heard the question: saving takes longer than a call may.
            return Part.WORKING
        except requests.RequestException:
            return Part.FAILED


def _part(status: int) -> Part:
    if status in _DONE:
        return Part.DONE
    if status == _WORKING:
        return Part.WORKING
    return Part.UNSUPPORTED if status in _UNSUPPORTED else Part.FAILED
