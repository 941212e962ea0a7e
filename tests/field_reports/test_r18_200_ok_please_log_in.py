"""R18: a proxy that answers with its log-in page tells nothing about the cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import requests
import responses

from daemon.secrets import SecretFile
from remediation.evidence.endpoint import Endpoint
from remediation.evidence.http import HttpEvidence
from remediation.ports import FailureReason, Source
from tests.remediation.memory import HandClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUERY = "http://prometheus:9090/api/v1/query"
LOGIN = {"body": "<!doctype html><title>Log in</title>", "content_type": "text/html"}
EMPTY = {"json": {"status": "success", "data": {"resultType": "vector", "result": []}}}
NODE = {"__name__": "forewarn_node_failure_probability", "node": "n1", "horizon": "24h"}
FULL = {"json": {"status": "success", "data": {"result": [{"metric": NODE, "value": [1, "0.9"]}]}}}


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(
        assert_all_requests_are_fired=False,
        registry=responses.registries.OrderedRegistry,
    ) as mock:
        mock.get(re.compile("http://alertmanager"), json=[])
        yield mock


def read(folder: Path) -> Any:
    token = folder / "token"
    token.write_text("old", "utf-8")
    session = requests.Session()
    source = HttpEvidence(
        alertmanager=Endpoint(
            "http://alertmanager:9093", session=session, timeout_seconds=1, token=None
        ),
        prometheus=Endpoint(
            "http://prometheus:9090", session=session, timeout_seconds=1, token=SecretFile(token)
        ),
        cluster="",
        distress=tuple,
        targets=tuple,
        clock=HandClock().clock,
    )
    return source.read(frozenset({"n1"}))


def test_r18_a_login_page_is_asked_past_once(
    server: responses.RequestsMock, tmp_path: Path
) -> None:
    server.post(QUERY, **LOGIN)
    server.post(QUERY, **FULL)
    reading = read(tmp_path)
    assert reading.failures == {}
    assert reading.evidence.predictions["n1"].probabilities == {("24h", ""): 0.9}


def test_r18_a_login_page_that_stays_is_bad_content(
    server: responses.RequestsMock, tmp_path: Path
) -> None:
    server.post(QUERY, **LOGIN)
    server.post(QUERY, **LOGIN)
    reading = read(tmp_path)
    assert reading.evidence.predictions is None
    assert reading.failures[Source.PROMETHEUS].reason is FailureReason.BAD_CONTENT


def test_r18_a_redirect_is_never_followed_with_the_token(
    server: responses.RequestsMock, tmp_path: Path
) -> None:
    away = {"status": 302, "headers": {"Location": "https://login.example/oauth"}, "json": {}}
    server.post(QUERY, **away)
    reading = read(tmp_path)
    assert reading.failures[Source.PROMETHEUS].reason is FailureReason.BAD_CONTENT
    assert not [call for call in server.calls if "login.example" in str(call.request.url)]


def test_r18_an_answer_without_any_data_is_no_answer(
    server: responses.RequestsMock, tmp_path: Path
) -> None:
    server.post(QUERY, **EMPTY)
    reading = read(tmp_path)
    assert reading.evidence.predictions is None
    assert reading.failures[Source.PROMETHEUS].reason is FailureReason.NO_DATA
