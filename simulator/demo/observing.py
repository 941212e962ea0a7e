"""Turns one look at every part of the trial into one observation of the story."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import requests

from simulator.demo.story import Observation

if TYPE_CHECKING:
    from simulator.demo.cluster import ClusterLook
    from simulator.demo.stage import Stage

HORIZON = "24h"
QUERY_TIMEOUT_SECONDS = 5.0


class Observer:
    """Looks at Prometheus, the cluster and the machines, as a person with browsers would."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._session = requests.Session()
        self._session.trust_env = False

    def look(self) -> Observation:
        """Return one observation; raises `requests.RequestException` and the cluster's errors."""
        stage, node = self._stage, self._stage.struck
        cluster = stage.look()
        probability = self._query(
            f'max(forewarn_node_failure_probability{{node="{node}",horizon="{HORIZON}"}})'
        )
        return Observation(
            at_seconds=stage.hardware.elapsed_seconds(),
            states=self._states(),
            probability=float(probability[0]["value"][1]) if probability else None,
            cause=self._cause(node),
            signals=self._signals(node),
            alerts=self._alerts(node),
            cordoned=cluster.cordoned,
            reason=_reason(cluster, node),
            pods_on_failing=cluster.on(node),
            pods_running=sum(work.running for work in cluster.work),
            failed=stage.hardware.failed(node),
            would=self._would(node) if stage.plan.observes else "",
        )

    def close(self) -> None:
        """Free the connections."""
        self._session.close()

    def _states(self) -> dict[str, str]:
        found = self._query("forewarn_prediction_state == 1")
        return {each["metric"]["node"]: each["metric"]["state"] for each in found}

    def _cause(self, node: str) -> str:
        found = self._query(
            f'topk(1, forewarn_cause_failure_probability{{node="{node}",horizon="{HORIZON}"}})'
        )
        return found[0]["metric"]["cause"] if found else ""

    def _signals(self, node: str) -> tuple[str, ...]:
        found = self._query(f'topk(2, forewarn_signal_contribution_ratio{{node="{node}"}})')
        return tuple(f"GPU {m['gpu']} {m['signal']}" for m in (each["metric"] for each in found))

    def _alerts(self, node: str) -> tuple[str, ...]:
        found = self._query(
            f'ALERTS{{alertstate="firing",node="{node}",remediation!="",severity="critical"}}'
        )
        return tuple(each["metric"]["alertname"] for each in found)

    def _would(self, node: str) -> str:
        answer = self._session.get(
            f"{self._stage.addresses.remediation}api/v1/episodes/{node}",
            timeout=QUERY_TIMEOUT_SECONDS,
        )
        answer.raise_for_status()
        finding = answer.json()["finding"] or {}
        return str(finding["sentence"]) if finding.get("only_observed") else ""

    def _query(self, promql: str) -> list[dict[str, Any]]:
        answer = self._session.get(
            f"{self._stage.addresses.prometheus}/api/v1/query",
            params={"query": promql},
            timeout=QUERY_TIMEOUT_SECONDS,
        )
        answer.raise_for_status()
        result: list[dict[str, Any]] = answer.json()["data"]["result"]
        return result


def _reason(cluster: ClusterLook, node: str) -> str:
    try:
        return str(json.loads(cluster.episodes.get(node, "{}")).get("reason", ""))
    except (json.JSONDecodeError, AttributeError):
        return ""
