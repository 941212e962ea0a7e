"""Alertmanager's and Prometheus's APIs over a real socket, saying what a test tells them to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from werkzeug.wrappers import Request, Response

from daemon.clocks import system_clock
from daemon.serving import Server
from remediation.policy.bounds.targets import COOL

if TYPE_CHECKING:
    from collections.abc import Iterable

ALERT = {
    "alertname": "ForewarnNodeFailureLikely",
    "severity": "critical",
    "cause": "memory",
    "horizon": "24h",
    "remediation": "migrate",
}


@dataclass
class Monitoring:
    """What fires, and what each node's probability is; `broken` answers 500 to everything.

    `troubles` are alerts of the cluster itself that fire, `margins` how far each
    node is from being too hot (Celsius), `gpus` the probability of each GPU by
    node and uuid; the alerts of nodes in `silenced` are.
    """

    firing: list[dict[str, str]] = field(default_factory=list)
    probabilities: dict[str, float] = field(default_factory=dict)
    broken: bool = False
    queries: list[str] = field(default_factory=list)
    troubles: list[dict[str, str]] = field(default_factory=list)
    margins: dict[str, float] = field(default_factory=dict)
    gpus: dict[str, dict[str, float]] = field(default_factory=dict)
    silenced: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._server = Server(self, host="127.0.0.1", port=0)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    def fire(self, node: str, **labels: str) -> dict[str, str]:
        """Let an alert of `node` fire, with a probability that bears it out."""
        alert = {**ALERT, "node": node, **labels}
        self.firing.append(alert)
        self.probabilities[node] = 0.9
        return alert

    def quiet(self, node: str) -> None:
        """End the alerts of `node`; its probability is low again."""
        self.firing[:] = [alert for alert in self.firing if alert["node"] != node]
        self.probabilities[node] = 0.001

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        if self.broken:
            response = Response("broken", status=500)
        elif request.path == "/api/v2/alerts":
            response = _json(self._matching(request.args.get("filter", "")))
        else:
            asked = request.form["query"]
            self.queries.append(asked)
            response = _json(self._measured() if asked == COOL.query else self._vector())
        answer: Iterable[bytes] = response(environ, start_response)
        return answer

    def _measured(self) -> dict[str, Any]:
        found = [
            {"metric": {"node": node}, "value": [0, repr(value)]}
            for node, value in self.margins.items()
        ]
        return {"status": "success", "data": {"resultType": "vector", "result": found}}

    def _matching(self, matcher: str) -> list[dict[str, Any]]:
        found = self.troubles if matcher.startswith("alertname") else self.firing
        return [_listed(alert, silenced=alert.get("node") in self.silenced) for alert in found]

    def _vector(self) -> dict[str, Any]:
        now = system_clock().wall()
        samples = [
            sample
            for node, probability in self.probabilities.items()
            for sample in _samples(node, probability, now)
        ]
        samples += [
            _gpu_sample(node, uuid, probability, now)
            for node, found in self.gpus.items()
            for uuid, probability in found.items()
        ]
        return {"status": "success", "data": {"resultType": "vector", "result": samples}}


def _json(document: Any) -> Response:
    return Response(json.dumps(document), mimetype="application/json")


def a_post(*alerts: dict[str, str], status: str = "firing") -> dict[str, Any]:
    """The body that Alertmanager posts for `alerts`."""
    entries = [
        {
            "status": status,
            "labels": alert,
            "annotations": {},
            "startsAt": "2026-11-30T12:00:00Z",
            "endsAt": "0001-01-01T00:00:00Z",
        }
        for alert in alerts
    ]
    return {"version": "4", "status": status, "truncatedAlerts": 0, "alerts": entries}


def _listed(alert: dict[str, str], *, silenced: bool) -> dict[str, Any]:
    state = "suppressed" if silenced else "active"
    by = ["a-silence"] if silenced else []
    return {
        "labels": alert,
        "status": {"state": state, "silencedBy": by, "inhibitedBy": []},
        "startsAt": "2026-11-30T12:00:00Z",
        "endsAt": "2099-01-01T00:00:00Z",
        "receivers": [],
    }


def _gpu_sample(node: str, uuid: str, probability: float, now: float) -> dict[str, Any]:
    name = "forewarn_gpu_failure_probability"
    labels = {"__name__": name, "node": node, "uuid": uuid, "horizon": "24h"}
    return {"metric": labels, "value": [now, repr(probability)]}


def _samples(node: str, probability: float, now: float) -> list[dict[str, Any]]:
    values = [
        ({"__name__": "forewarn_node_failure_probability", "horizon": "24h"}, probability),
        (
            {
                "__name__": "forewarn_cause_failure_probability",
                "horizon": "24h",
                "cause": "memory",
            },
            probability,
        ),
        ({"__name__": "forewarn_prediction_state", "state": "ok"}, 1.0),
        ({"__name__": "forewarn_prediction_state", "state": "blind"}, 0.0),
        ({"__name__": "forewarn_prediction_timestamp_seconds"}, now - 1),
        ({"__name__": "forewarn_model_info", "provenance": "fleet", "version": "1"}, 1.0),
        ({"__name__": "forewarn_model_doubted", "reason": "drifted"}, 0.0),
    ]
    return [
        {"metric": {"node": node, **labels}, "value": [now, repr(value)]}
        for labels, value in values
    ]
