"""Evidence over HTTP: Alertmanager for what fires, Prometheus for what it says.

Values are asked from Prometheus by label, never taken from an alert: an alert
is as old as its group's interval, and its numbers are text for people.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import msgspec
import requests

from daemon.secrets import SecretUnreadable
from remediation.alert import AlertsUndecodable, read_list
from remediation.policy.evidence import Evidence, Prediction
from remediation.ports import CallFailed, EvidenceReading, FailureReason, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from daemon.clocks import Clock
    from daemon.secrets import SecretFile
    from remediation.alert import Alert
    from remediation.policy.targets import TargetCondition

T = TypeVar("T")

_NODE = "forewarn_node_failure_probability"
_CAUSE = "forewarn_cause_failure_probability"
_GPU = "forewarn_gpu_failure_probability"
_TIMESTAMP = "forewarn_prediction_timestamp_seconds"
_STATE = "forewarn_prediction_state"
_MODEL = "forewarn_model_info"
_DOUBTED = "forewarn_model_doubted"
_STATUSES = {
    401: FailureReason.UNAUTHORIZED,
    403: FailureReason.FORBIDDEN,
    404: FailureReason.NOT_FOUND,
    429: FailureReason.OVERLOADED,
    503: FailureReason.OVERLOADED,
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _Sample(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str]


class _Trouble(msgspec.Struct):
    labels: dict[str, str]


class _Vector(msgspec.Struct):
    result: list[_Sample]


class _Answer(msgspec.Struct):
    data: _Vector


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

    def _vector(self, promql: str) -> list[_Sample]:
        # POST, since the list of nodes can be longer than a URL may be.
        body = self._prometheus.post("/api/v1/query", {"query": promql})
        try:
            return msgspec.json.decode(body, type=_Answer).data.result
        except (msgspec.DecodeError, UnicodeError) as error:
            message = f"not a Prometheus query answer: {error}"
            raise CallFailed(message, FailureReason.UNEXPECTED_ANSWER) from error


def _is_json(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().endswith("json")


def query(nodes: Iterable[str], *, gpus: bool = False) -> str:
    """Return one query for everything that is re-read about `nodes`, at one evaluation time."""
    always = (_NODE, _CAUSE, _TIMESTAMP, _STATE, _MODEL, _DOUBTED)
    names = "|".join((*always, _GPU) if gpus else always)
    # A dot is the only character of a node's name that means something in a pattern.
    wanted = "|".join(sorted(node.replace(".", "[.]") for node in nodes))
    return f'{{__name__=~"{names}",node=~"{wanted}"}}'


def read_predictions(samples: Iterable[_Sample]) -> dict[str, Prediction]:
    """Group samples by node; two series where one is expected leave None, not a choice."""
    by_node: dict[str, list[_Sample]] = {}
    for sample in samples:
        by_node.setdefault(sample.metric.get("node", ""), []).append(sample)
    return {node: _prediction(found) for node, found in by_node.items()}


def _prediction(samples: list[_Sample]) -> Prediction:
    probabilities: dict[tuple[str, str], float | None] = {}
    gpus: dict[tuple[str, str], float | None] = {}
    ages: list[float] = []
    states: list[str] = []
    models: set[tuple[str, str]] = set()
    doubts: dict[str, bool] = {}
    for sample in samples:
        name, value = sample.metric.get("__name__"), float(sample.value[1])
        if name in {_NODE, _CAUSE}:
            key = (sample.metric.get("horizon", ""), sample.metric.get("cause", ""))
            probabilities[key] = None if key in probabilities or math.isnan(value) else value
        elif name == _GPU:
            key = (sample.metric.get("horizon", ""), sample.metric.get("uuid", ""))
            gpus[key] = None if key in gpus or math.isnan(value) else value
        elif name == _TIMESTAMP:
            ages.append(sample.value[0] - value)
        elif name == _STATE and value == 1:
            states.append(sample.metric.get("state", ""))
        elif name == _MODEL:
            models.add((sample.metric.get("provenance", ""), sample.metric.get("version", "")))
        elif name == _DOUBTED:
            reason = sample.metric.get("reason", "")
            # Of two exporters that disagree the one that doubts is believed.
            doubts[reason] = doubts.get(reason, False) or value != 0
    return Prediction(
        age_seconds=ages[0] if len(ages) == 1 and math.isfinite(ages[0]) else None,
        state=states[0] if len(states) == 1 else None,
        provenance=next(iter(models))[0] if len(models) == 1 else None,
        version=next(iter(models))[1] if len(models) == 1 else None,
        doubts=frozenset(reason for reason, held in doubts.items() if held) if doubts else None,
        probabilities=probabilities,
        gpus=gpus,
    )


def _attempt(call: Callable[[], T], source: Source, failures: dict[Source, CallFailed]) -> T | None:
    try:
        return call()
    except CallFailed as failure:
        failures[source] = failure
        return None
