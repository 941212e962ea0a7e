"""Every way a Kubernetes call fails, translated once: API answers, time-outs, dead connections.

With retries off the client lets urllib3's exceptions through; catching only
`ApiException` would end the loop at the first time-out.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3.exceptions
from kubernetes.client.exceptions import ApiException
from kubernetes.config import ConfigException

from remediation.ports import CallFailed, Conflict, FailureReason

if TYPE_CHECKING:
    from collections.abc import Iterator

# Answers can hold whole objects; a log line needs the sentence at their start.
_MESSAGE_CHARACTERS = 256

_BY_STATUS = {
    401: FailureReason.UNAUTHORIZED,
    403: FailureReason.FORBIDDEN,
    404: FailureReason.NOT_FOUND,
    410: FailureReason.STALE,
    429: FailureReason.OVERLOADED,
    503: FailureReason.OVERLOADED,
}


class _Cause(msgspec.Struct):
    reason: str = ""


class _Details(msgspec.Struct):
    causes: list[_Cause] = []
    retry_after_seconds: int = msgspec.field(default=0, name="retryAfterSeconds")


class Answer(msgspec.Struct):
    """The parts of a `Status` object that decide anything."""

    message: str = ""
    reason: str = ""
    details: _Details | None = None

    @property
    def causes(self) -> frozenset[str]:
        """The machine-readable causes: text changes between versions, these do not."""
        return (
            frozenset(cause.reason for cause in self.details.causes)
            if self.details
            else frozenset()
        )


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Translate every failure inside into `CallFailed`; `what` names the call for people."""
    try:
        yield
    except ApiException as error:
        raise failure(what, error) from error
    except ConfigException as error:
        # Credentials are read anew for a call: nothing was sent.
        message = f"{what}: no credentials: {_first_line(error)}"
        raise CallFailed(message, FailureReason.UNAUTHORIZED) from error
    except urllib3.exceptions.NewConnectionError as error:
        # A refused connection is a kind of time-out to urllib3, but nobody waited for anything.
        message = f"{what}: {_first_line(error)}"
        raise CallFailed(message, FailureReason.UNREACHABLE) from error
    except urllib3.exceptions.TimeoutError as error:
        raise CallFailed(f"{what}: no answer in time", FailureReason.TIMEOUT) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        message = f"{what}: {_first_line(error)}"
        raise CallFailed(message, FailureReason.UNREACHABLE) from error
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        if isinstance(error.__context__, ApiException):
            # The client trips over a failure without a body, such as a certificate it refuses.
            raise failure(what, error.__context__) from error
        message = f"{what}: not the expected answer: {_first_line(error)}"
        raise CallFailed(message, FailureReason.UNEXPECTED_ANSWER) from error


def failure(what: str, error: ApiException) -> CallFailed:
    """Translate an API answer by its status."""
    status = int(error.status or 0)
    text = answer(error).message or str(error.reason or "")
    message = f"{what}: {status} {text}"[:_MESSAGE_CHARACTERS]
    if status == 409:
        return Conflict(message)
    if status == 0:
        return CallFailed(message, FailureReason.UNREACHABLE)
    default = FailureReason.SERVER_ERROR if status >= 500 else FailureReason.UNEXPECTED_ANSWER
    return CallFailed(message, _BY_STATUS.get(status, default))


def answer(error: ApiException) -> Answer:
    """Read the `Status` in an error's body; one that is none is empty."""
    body: Any = error.body or b"{}"
    try:
        return msgspec.json.decode(body, type=Answer)
    except (msgspec.DecodeError, UnicodeError, TypeError):
        return Answer()


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:_MESSAGE_CHARACTERS]
