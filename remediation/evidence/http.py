"""Evidence over HTTP: Alertmanager for what fires, Prometheus for what it says.

Values are asked from Prometheus by label, never taken from an alert: an alert
is as old as its group's interval, and its numbers are text for people.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import msgspec

from remediation.alert import AlertsUndecodable, read_list
from remediation.evidence.predictions import Sample, query, read_predictions
from remediation.policy.facts.evidence import Evidence
from remediation.ports import CallFailed, EvidenceReading, FailureReason, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.clocks import Clock
    from remediation.alert import Alert
    from remediation.evidence.endpoint import Endpoint
    from remediation.policy.bounds.targets import TargetCondition
    from remediation.policy.facts.evidence import Prediction

T = TypeVar("T")


class _Trouble(msgspec.Struct):
    labels: dict[str, str]


class _Vector(msgspec.Struct):
    result: list[Sample]


class _Answer(msgspec.Struct):
    data: _Vector


class HttpEvidence:
    """Alertmanager and Prometheus as they are now; see `remediation.ports.EvidenceSource`.

    `distress` returns the names of the alerts that the policy takes for distress,
    `targets` its conditions of nodes that work may go to, `gpus` whether single
    GPUs matter to it.
    """

    def __init__(
        self,
        *,
        alertmanager: Endpoint,
        prometheus: Endpoint,
        cluster: str,
        distress: Callable[[], tuple[str, ...]],
        targets: Callable[[], tuple[TargetCondition, ...]],
        clock: Clock,
        gpus: Callable[[], bool] = lambda: False,
    ) -> None:
        self._alertmanager = alertmanager
        self._prometheus = prometheus
        self._cluster = cluster
        self._distress = distress
        self._targets = targets
        self._gpus = gpus
        self._clock = clock

    def read(self, nodes: frozenset[str]) -> EvidenceReading:
        """Return what both said; what could not be read is None, with its failure."""
        polled_at = self._clock.wall()
        failures: dict[Source, CallFailed] = {}
        alerts = _attempt(self._alerts, Source.ALERTMANAGER, failures)
        # An alert that no post brought is judged in the tick that finds it.
        concerned = nodes | {alert.node for alert in alerts or ()}
        predictions = _attempt(lambda: self._predictions(concerned), Source.PROMETHEUS, failures)
        troubles = _attempt(self._troubles, Source.ALERTMANAGER, failures)
        measured = {
            condition.name: _attempt(self._measured(condition), Source.PROMETHEUS, failures)
            for condition in self._targets()
            if concerned and Source.PROMETHEUS not in failures
        }
        evidence = Evidence(
            alerts=alerts,
            polled_at=polled_at,
            predictions=predictions,
            targets=measured,
            distress=troubles,
        )
        return EvidenceReading(evidence, failures)

    def _troubles(self) -> frozenset[str]:
        """Return which of the alerts that the policy takes for distress fire in this cluster."""
        names = self._distress()
        if not names:
            return frozenset()
        wanted = "|".join(names)
        params = {"filter": f'alertname=~"{wanted}"', "silenced": "false", "inhibited": "false"}
        body = self._alertmanager.get("/api/v2/alerts", params)
        try:
            found = msgspec.json.decode(body, type=list[_Trouble])
        except (msgspec.DecodeError, UnicodeError) as error:
            message = f"not an Alertmanager alert list: {error}"
            raise CallFailed(message, FailureReason.UNEXPECTED_ANSWER) from error
        # An alert that names no cluster may be about this one.
        here = {"", self._cluster} if self._cluster else None
        return frozenset(
            one.labels.get("alertname", "")
            for one in found
            if here is None or one.labels.get("cluster", "") in here
        )

    def _alerts(self) -> tuple[Alert, ...]:
        body = self._alertmanager.get("/api/v2/alerts", {"filter": 'remediation=~".+"'})
        try:
            return read_list(body, cluster=self._cluster)
        except AlertsUndecodable as error:
            raise CallFailed(str(error), FailureReason.UNEXPECTED_ANSWER) from error

    def _predictions(self, nodes: frozenset[str]) -> dict[str, Prediction]:
        if not nodes:
            return {}
        found = self._vector(query(nodes, gpus=self._gpus()))
        if not found:
            # Somebody else's tenant answers like this: nothing at all is no evidence of health.
            message = "Prometheus holds nothing about the nodes that were asked for"
            raise CallFailed(message, FailureReason.NO_DATA)
        return read_predictions(found)

    def _measured(self, condition: TargetCondition) -> Callable[[], dict[str, float]]:
        """Return how to read a condition's value by node; of two values neither is believed."""

        def read() -> dict[str, float]:
            values: dict[str, float] = {}
            for sample in self._vector(condition.query):
                node, value = sample.metric.get("node", ""), float(sample.value[1])
                values[node] = math.nan if node in values else value
            return values

        return read

    def _vector(self, promql: str) -> list[Sample]:
        # POST, since the list of nodes can be longer than a URL may be.
        body = self._prometheus.post("/api/v1/query", {"query": promql})
        try:
            return msgspec.json.decode(body, type=_Answer).data.result
        except (msgspec.DecodeError, UnicodeError) as error:
            message = f"not a Prometheus query answer: {error}"
            raise CallFailed(message, FailureReason.UNEXPECTED_ANSWER) from error


def _attempt(call: Callable[[], T], source: Source, failures: dict[Source, CallFailed]) -> T | None:
    try:
        return call()
    except CallFailed as failure:
        failures[source] = failure
        return None
