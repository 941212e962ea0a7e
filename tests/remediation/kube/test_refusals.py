"""What the API server's refusals mean, classified by status and causes, never by text."""

from __future__ import annotations

import json
from typing import Any

import pytest
import urllib3.exceptions
from kubernetes.client.exceptions import ApiException
from kubernetes.config import ConfigException

from remediation.kube.errors import calling
from remediation.kube.eviction import classify
from remediation.ports import CallFailed, Conflict, EvictionOutcome, FailureReason

POOL: Any = None


def refused(status: int, **fields: Any) -> ApiException:
    error = ApiException(status=status, reason="x")
    error.body = json.dumps({"kind": "Status", "code": status, **fields})
    return error


def caused(*reasons: str) -> dict[str, Any]:
    return {"causes": [{"reason": reason, "message": "x"} for reason in reasons]}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        pytest.param(
            refused(429, reason="TooManyRequests", details=caused("DisruptionBudget")),
            EvictionOutcome.BUDGET,
            id="budget-spent",
        ),
        pytest.param(
            refused(
                429,
                reason="TooManyRequests",
                details={**caused("DisruptionBudget"), "retryAfterSeconds": 10},
            ),
            EvictionOutcome.BUDGET,
            id="budget-not-yet-observed",
        ),
        pytest.param(
            refused(403, reason="Forbidden", details=caused("DisruptionBudget")),
            EvictionOutcome.BUDGET,
            id="budget-with-too-many-unconfirmed",
        ),
        pytest.param(
            refused(429, reason="TooManyRequests"), EvictionOutcome.OVERLOADED, id="server-busy"
        ),
        pytest.param(
            refused(500, message="more than one PodDisruptionBudget"),
            EvictionOutcome.MISCONFIGURED,
            id="two-budgets-match",
        ),
        pytest.param(
            refused(500, reason="InternalError"), EvictionOutcome.FAILED, id="internal-error"
        ),
        pytest.param(refused(409, reason="Conflict"), EvictionOutcome.REPLACED, id="other-uid"),
        pytest.param(refused(404, reason="NotFound"), EvictionOutcome.GONE, id="gone"),
        pytest.param(refused(422, reason="Invalid"), EvictionOutcome.FAILED, id="invalid"),
    ],
)
def test_a_refused_eviction_is_classified(error: ApiException, outcome: EvictionOutcome) -> None:
    assert classify(error).outcome is outcome


def test_an_answer_without_a_readable_body_is_still_classified() -> None:
    error = ApiException(status=429, reason="Too Many Requests")
    assert classify(error).outcome is EvictionOutcome.OVERLOADED


@pytest.mark.parametrize(
    ("raised", "reason", "unsure"),
    [
        pytest.param(refused(401), FailureReason.UNAUTHORIZED, False, id="401"),
        pytest.param(ConfigException("x"), FailureReason.UNAUTHORIZED, False, id="no-credentials"),
        pytest.param(refused(403), FailureReason.FORBIDDEN, False, id="403"),
        pytest.param(refused(404), FailureReason.NOT_FOUND, False, id="404"),
        pytest.param(refused(409), FailureReason.CONFLICT, False, id="409"),
        pytest.param(refused(422), FailureReason.UNEXPECTED_ANSWER, False, id="422"),
        pytest.param(refused(429), FailureReason.OVERLOADED, False, id="429"),
        pytest.param(refused(500), FailureReason.SERVER_ERROR, False, id="500"),
        pytest.param(refused(503), FailureReason.OVERLOADED, False, id="503"),
        pytest.param(ApiException(status=0), FailureReason.UNREACHABLE, True, id="tls-refused"),
        pytest.param(
            urllib3.exceptions.ReadTimeoutError(POOL, "/", "x"),
            FailureReason.TIMEOUT,
            True,
            id="read-timeout",
        ),
        pytest.param(
            urllib3.exceptions.NewConnectionError(POOL, "refused"),
            FailureReason.UNREACHABLE,
            True,
            id="connection-refused",
        ),
        pytest.param(
            urllib3.exceptions.ProtocolError("closed"), FailureReason.UNREACHABLE, True, id="cut"
        ),
        pytest.param(
            ValueError("Invalid value for `items`"),
            FailureReason.UNEXPECTED_ANSWER,
            False,
            id="items-null",
        ),
    ],
)
def test_every_way_to_fail_is_translated(
    raised: Exception, reason: FailureReason, unsure: bool
) -> None:
    with pytest.raises(CallFailed) as caught, calling("patch node n1"):
        raise raised
    assert caught.value.reason is reason
    assert caught.value.may_have_happened is unsure
    assert str(caught.value).startswith("patch node n1: ")
    assert isinstance(caught.value, Conflict) is (reason is FailureReason.CONFLICT)


def test_a_long_answer_is_cut_and_headers_are_never_told() -> None:
    error = refused(500, message="x" * 10_000)
    error.headers = {"Authorization": "secret"}
    with pytest.raises(CallFailed) as caught, calling("list nodes"):
        raise error
    assert len(str(caught.value)) <= 256
    assert "secret" not in str(caught.value)
