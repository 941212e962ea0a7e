"""Alertmanager and Prometheus over HTTP, and everything that is not an answer."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest
import requests
import responses

from daemon.secrets import SecretFile
from remediation.evidence.endpoint import Endpoint
from remediation.evidence.http import HttpEvidence
from remediation.evidence.predictions import query
from remediation.policy.bounds.targets import TargetCondition
from remediation.ports import FailureReason, Source
from tests.remediation.memory import HandClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALERTS = "http://alertmanager:9093/api/v2/alerts"
QUERY = "http://prometheus:9090/api/v1/query"
LISTED = [
    {
        "labels": {
            "alertname": "A",
            "node": "n1",
            "severity": "critical",
            "remediation": "exclude",
        },
        "status": {"state": "active"},
    }
]


def a_sample(value: float | str, name: str = "node_failure_probability", **labels: str) -> Any:
    metric = {"__name__": f"forewarn_{name}", "node": "n1", **labels}
    return {"metric": metric, "value": [1000.0, str(value)]}


GOOD = [
    a_sample(0.7, horizon="24h"),
    a_sample(0.6, "cause_failure_probability", horizon="24h", cause="memory"),
    a_sample(1, "prediction_state", state="ok"),
    a_sample(0, "prediction_state", state="blind"),
    a_sample(990.0, "prediction_timestamp_seconds"),
    a_sample(1, "model_info", provenance="fleet", version="7"),
    a_sample(0, "model_doubted", reason="drifted"),
    a_sample(0, "model_doubted", reason="stale"),
]


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.get(re.compile(ALERTS), json=LISTED)
        mock.post(QUERY, json=vector(GOOD))
        yield mock


def vector(samples: list[Any]) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": "vector", "result": samples}}


def reader(
    token: SecretFile | None = None,
    distress: tuple[str, ...] = (),
    cluster: str = "",
    targets: tuple[Any, ...] = (),
) -> HttpEvidence:
    def endpoint(url: str) -> Endpoint:
        return Endpoint(url, session=requests.Session(), timeout_seconds=1, token=token)

    return HttpEvidence(
        alertmanager=endpoint("http://alertmanager:9093/"),
        prometheus=endpoint("http://prometheus:9090"),
        cluster=cluster,
        distress=lambda: distress,
        targets=lambda: targets,
        clock=HandClock().clock,
    )


def test_alerts_and_predictions_are_read_in_one_request_each(
    server: responses.RequestsMock,
) -> None:
    reading = reader().read(frozenset({"n1"}))
    assert reading.failures == {}
    assert reading.evidence.alerts is not None
    assert [alert.node for alert in reading.evidence.alerts] == ["n1"]
    assert reading.evidence.predictions is not None
    prediction = reading.evidence.predictions["n1"]
    assert prediction.age_seconds == 10.0
    assert prediction.state == "ok"
    assert prediction.probabilities == {("24h", ""): 0.7, ("24h", "memory"): 0.6}
    assert len(server.calls) == 2


def test_a_node_that_only_an_alert_names_is_asked_about(server: responses.RequestsMock) -> None:
    reader().read(frozenset({"gpu.7"}))
    sent = parse_qs(str(server.calls[1].request.body))["query"][0]
    assert sent.endswith('node=~"gpu[.]7|n1"}')


def test_the_query_names_nodes_exactly() -> None:
    pattern = query(["a.b"]).partition('node=~"')[2].removesuffix('"}')
    assert re.fullmatch(pattern, "a.b")
    assert not re.fullmatch(pattern, "axb")


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        pytest.param([a_sample(0.7, horizon="24h")] * 2, None, id="two-series"),
        pytest.param([a_sample("NaN", horizon="24h")], None, id="not-a-number"),
    ],
)
def test_what_is_not_one_number_is_no_probability(
    server: responses.RequestsMock, samples: list[Any], expected: float | None
) -> None:
    server.replace("POST", QUERY, json=vector(samples))
    predictions = reader().read(frozenset({"n1"})).evidence.predictions
    assert predictions is not None
    assert predictions["n1"].probabilities[("24h", "")] is expected


def test_single_gpus_are_asked_about_only_where_they_matter(server: responses.RequestsMock) -> None:
    two = [
        a_sample(0.7, "gpu_failure_probability", horizon="24h", uuid="GPU-1"),
        a_sample(0.1, "gpu_failure_probability", horizon="24h", uuid="GPU-2"),
        a_sample(0.2, "gpu_failure_probability", horizon="24h", uuid="GPU-2"),
    ]
    server.replace("POST", QUERY, json=vector(two))
    predictions = reader().read(frozenset({"n1"})).evidence.predictions
    assert predictions is not None
    assert predictions["n1"].gpus == {("24h", "GPU-1"): 0.7, ("24h", "GPU-2"): None}
    assert "gpu_failure" not in query(["n1"])
    assert "forewarn_gpu_failure_probability" in query(["n1"], gpus=True)


def test_two_states_at_once_are_no_state(server: responses.RequestsMock) -> None:
    both = [a_sample(1, "prediction_state", state=s) for s in ("ok", "blind")]
    server.replace("POST", QUERY, json=vector(both))
    predictions = reader().read(frozenset({"n1"})).evidence.predictions
    assert predictions is not None
    assert predictions["n1"].state is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param({"status": 500}, FailureReason.SERVER_ERROR, id="500"),
        pytest.param({"status": 401}, FailureReason.UNAUTHORIZED, id="401"),
        pytest.param({"status": 503}, FailureReason.OVERLOADED, id="503"),
        pytest.param({"body": requests.Timeout()}, FailureReason.TIMEOUT, id="timeout"),
        pytest.param({"body": requests.ConnectionError()}, FailureReason.UNREACHABLE, id="refused"),
        pytest.param({"body": "<html>"}, FailureReason.BAD_CONTENT, id="a-page"),
        pytest.param({"json": {"status": "error"}}, FailureReason.UNEXPECTED_ANSWER, id="error"),
    ],
)
def test_what_cannot_be_read_is_none_with_its_reason(
    server: responses.RequestsMock, answer: dict[str, Any], reason: FailureReason
) -> None:
    server.replace("GET", re.compile(ALERTS), **answer)
    server.replace("POST", QUERY, **answer)
    reading = reader().read(frozenset({"n1"}))
    assert (reading.evidence.alerts, reading.evidence.predictions) == (None, None)
    assert {source: failure.reason for source, failure in reading.failures.items()} == {
        Source.ALERTMANAGER: reason,
        Source.PROMETHEUS: reason,
    }


def test_a_token_is_sent_and_never_told(server: responses.RequestsMock, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hush", "utf-8")
    server.replace("GET", re.compile(ALERTS), status=403)
    reading = reader(SecretFile(tmp_path / "token")).read(frozenset())
    assert server.calls[0].request.headers["Authorization"] == "Bearer hush"
    assert "hush" not in str(reading.failures[Source.ALERTMANAGER])


def test_a_missing_token_file_is_a_refusal_and_not_a_crash(
    server: responses.RequestsMock, tmp_path: Path
) -> None:
    failures = reader(SecretFile(tmp_path / "gone")).read(frozenset({"n1"})).failures
    assert failures[Source.PROMETHEUS].reason is FailureReason.UNAUTHORIZED
    assert len(server.calls) == 0


def test_the_model_in_force_is_read_and_two_of_them_are_none(
    server: responses.RequestsMock,
) -> None:
    found = reader().read(frozenset({"n1"})).evidence.predictions
    assert found is not None
    assert (found["n1"].provenance, found["n1"].version) == ("fleet", "7")
    other = a_sample(1, "model_info", provenance="fleet", version="8")
    server.replace("POST", QUERY, json=vector([*GOOD, other]))
    found = reader().read(frozenset({"n1"})).evidence.predictions
    assert found is not None
    assert (found["n1"].provenance, found["n1"].version) == (None, None)


def test_doubts_about_the_model_are_read_and_silence_about_them_is_not_none(
    server: responses.RequestsMock,
) -> None:
    def doubts(samples: list[Any]) -> Any:
        server.replace("POST", QUERY, json=vector(samples))
        found = reader().read(frozenset({"n1"})).evidence.predictions
        assert found is not None
        return found["n1"].doubts

    assert doubts(GOOD) == frozenset()
    other = a_sample(1, "model_doubted", reason="drifted", instance="b")
    assert doubts([*GOOD, other]) == {"drifted"}
    assert doubts(GOOD[:-2]) is None


COOL = TargetCondition(name="heat", query="cool", least=5)


def asked_for(query: str, samples: list[Any]) -> Any:
    """Answer that query with these samples, every other with the usual ones."""

    def answer(request: Any) -> tuple[int, dict[str, str], str]:
        asked = parse_qs(request.body)["query"][0]
        found = samples if asked == query else GOOD
        return 200, {"Content-Type": "application/json"}, json.dumps(vector(found))

    return answer


def test_conditions_of_targets_are_measured_by_node(server: responses.RequestsMock) -> None:
    server.remove("POST", QUERY)
    twice = [a_sample(1, node="n3"), a_sample(2, node="n3")]
    samples = [a_sample(12.5), a_sample(3, node="n2"), *twice]
    server.add_callback("POST", QUERY, callback=asked_for("cool", samples))
    reading = reader(targets=(COOL,)).read(frozenset({"n1"}))
    measured = reading.evidence.targets["heat"]
    assert measured is not None
    assert (measured["n1"], measured["n2"]) == (12.5, 3.0)
    assert math.isnan(measured["n3"])


def test_where_nothing_is_suspect_no_target_is_asked_about(server: responses.RequestsMock) -> None:
    server.replace("GET", re.compile(ALERTS), json=[])
    assert reader(targets=(COOL,)).read(frozenset()).evidence.targets == {}
    assert [call.request.method for call in server.calls] == ["GET"]


TROUBLES = [
    {"labels": {"alertname": "KubeAPIDown"}, "status": {"state": "active"}},
    {"labels": {"alertname": "EtcdDown", "cluster": "b"}, "status": {"state": "active"}},
]


@pytest.mark.parametrize(
    ("cluster", "found"),
    [("", {"KubeAPIDown", "EtcdDown"}), ("a", {"KubeAPIDown"}), ("b", {"KubeAPIDown", "EtcdDown"})],
)
def test_trouble_of_another_cluster_is_none_of_this_one(
    server: responses.RequestsMock, cluster: str, found: set[str]
) -> None:
    server.replace("GET", re.compile(ALERTS), json=TROUBLES)
    reading = reader(distress=("KubeAPIDown", "EtcdDown"), cluster=cluster).read(frozenset())
    assert reading.evidence.distress == found
    asked = parse_qs(str(server.calls[-1].request.url).partition("?")[2])
    assert asked["filter"] == ['alertname=~"KubeAPIDown|EtcdDown"']


def test_trouble_that_cannot_be_read_is_not_no_trouble(server: responses.RequestsMock) -> None:
    server.replace("GET", re.compile(ALERTS), status=500)
    assert reader(distress=("A",)).read(frozenset()).evidence.distress is None
