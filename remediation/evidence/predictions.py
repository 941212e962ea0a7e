"""Predictions as Prometheus holds them: one query for all nodes, and how its samples are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from remediation.policy.facts.evidence import Prediction

if TYPE_CHECKING:
    from collections.abc import Iterable

_NODE = "forewarn_node_failure_probability"
_CAUSE = "forewarn_cause_failure_probability"
_GPU = "forewarn_gpu_failure_probability"
_TIMESTAMP = "forewarn_prediction_timestamp_seconds"
_STATE = "forewarn_prediction_state"
_MODEL = "forewarn_model_info"
_DOUBTED = "forewarn_model_doubted"


class Sample(msgspec.Struct):
    """One series at one moment: its labels, and when (Unix seconds) it had which value."""

    metric: dict[str, str]
    value: tuple[float, str]


def query(nodes: Iterable[str], *, gpus: bool = False) -> str:
    """Return one query for everything that is re-read about `nodes`, at one evaluation time."""
    always = (_NODE, _CAUSE, _TIMESTAMP, _STATE, _MODEL, _DOUBTED)
    names = "|".join((*always, _GPU) if gpus else always)
    # A dot is the only character of a node's name that means something in a pattern.
    wanted = "|".join(sorted(node.replace(".", "[.]") for node in nodes))
    return f'{{__name__=~"{names}",node=~"{wanted}"}}'


def read_predictions(samples: Iterable[Sample]) -> dict[str, Prediction]:
    """Group samples by node; two series where one is expected leave None, not a choice."""
    by_node: dict[str, list[Sample]] = {}
    for sample in samples:
        by_node.setdefault(sample.metric.get("node", ""), []).append(sample)
    return {node: _prediction(found) for node, found in by_node.items()}


def _prediction(samples: list[Sample]) -> Prediction:
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
