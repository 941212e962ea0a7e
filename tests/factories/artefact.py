"""A tiny artefact that keeps the contract, so that its answers can be worked out by hand.

Probability of a GPU is its last temperature over 100, at most 1, times a factor
per horizon; the node's is the largest; the state counts the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from model import schema
from model.artefact import METADATA_KEY, ArtefactInfo, ChannelUse, Evaluation, Training

if TYPE_CHECKING:
    from pathlib import Path

TEMPERATURE = "gpu_temperature_celsius"
FACTORS = (0.25, 0.5, 0.75, 1.0)
NAMES = (TEMPERATURE, "gpu_power_watts", "gpu_energy_joules_total", "node_power_watts")

WORTH = Evaluation(
    data="by hand",
    horizon="24h",
    threshold=0.5,
    events=4,
    node_weeks=20.0,
    base_rate_per_node_week=0.2,
    event_recall=0.5,
    precision=0.5,
    precision_at_field_rate_lower=0.12,
    field_rate_per_node_week=0.027,
    false_alerts_per_node_week=0.1,
    false_alerts_per_node_week_upper=0.2,
    median_lead_hours=12.0,
    lead_hours_quartiles=(6.0, 18.0),
    brier=0.02,
    brier_of_base_rate=0.03,
    brier_of_always_healthy=0.04,
)


def info(names: tuple[str, ...] = NAMES, **changes: Any) -> ArtefactInfo:
    """Return metadata for `names`, of which only the temperature is required."""
    channels = tuple(ChannelUse(n, schema.BY_NAME[n].unit, n == TEMPERATURE) for n in names)
    values: dict[str, Any] = {
        "schema_version": schema.SCHEMA_VERSION,
        "schema_fingerprint": schema.fingerprint(names),
        "channels": channels,
        "step_seconds": 60,
        "window_steps": 8,
        "state_width": 1,
        "horizons": tuple(schema.HORIZONS),
        "causes": tuple(schema.Cause),
        "scope": "fleet",
        "provenance": "fleet",
        "version": "test-1",
        "trained_timestamp": 1.7e9,
        "training": Training(1.6e9, 1.7e9, 1000, 10, 7),
        "evaluation": WORTH,
        "frameworks": {"onnx": onnx.__version__},
        "seed": 7,
    }
    return ArtefactInfo(**(values | changes))


def write(path: Path, names: tuple[str, ...] = NAMES, *, bias: float = 0.0, **changes: Any) -> Path:
    """Write an artefact to `path`; a `bias` of 2 breaks the promise that they end at 1."""
    about = info(names, **changes)
    model = helper.make_model(_graph(about, bias), opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    entry = model.metadata_props.add()
    entry.key, entry.value = METADATA_KEY, msgspec.json.encode(about).decode()
    path.write_bytes(model.SerializeToString())
    return path


def _graph(about: ArtefactInfo, bias: float) -> Any:
    channels, steps = len(about.channels), about.window_steps
    one_hot = np.zeros((1, channels), np.float32)
    one_hot[0, about.names.index(TEMPERATURE)] = 1.0
    constants = {
        "last": np.array(steps - 1, np.int64),
        "column": np.array(about.names.index(TEMPERATURE), np.int64),
        "zero": np.zeros((), np.float32),
        "one": np.ones((), np.float32),
        "percent": np.array(0.01, np.float32),
        "bias": np.array(bias, np.float32),
        "axis0": np.array([0], np.int64),
        "axis1": np.array([1], np.int64),
        "factors": np.array([FACTORS], np.float32),
        "shares": np.linspace(0.1, 0.6, len(about.causes), dtype=np.float32)[:, np.newaxis],
        "one_hot": one_hot,
    }
    nodes = [
        helper.make_node("Gather", ["window", "last"], ["now"], axis=1),
        helper.make_node("Gather", ["now", "column"], ["read"], axis=1),
        helper.make_node("IsNaN", ["read"], ["missing"]),
        helper.make_node("Where", ["missing", "zero", "read"], ["celsius"]),
        helper.make_node("Mul", ["celsius", "percent"], ["unbounded"]),
        helper.make_node("Clip", ["unbounded", "zero", "one"], ["share"]),
        helper.make_node("Add", ["share", "bias"], ["risk"]),
        helper.make_node("Unsqueeze", ["risk", "axis1"], ["risk_column"]),
        helper.make_node("Mul", ["risk_column", "factors"], ["gpu_probability"]),
        helper.make_node(
            "ReduceMax", ["gpu_probability", "axis0"], ["node_probability"], keepdims=0
        ),
        helper.make_node("Unsqueeze", ["node_probability", "axis0"], ["node_row"]),
        helper.make_node("Mul", ["node_row", "shares"], ["cause_probability"]),
        helper.make_node("Add", ["risk", "one"], ["score"]),
        helper.make_node("Mul", ["risk_column", "one_hot"], ["contribution"]),
        helper.make_node("Add", ["state", "one"], ["state_out"]),
    ]
    shapes = {
        "node_probability": [4],
        "cause_probability": [len(about.causes), 4],
        "gpu_probability": ["gpu", 4],
        "score": ["gpu"],
        "contribution": ["gpu", channels],
        "state_out": ["gpu", 1],
    }
    inputs = {"window": ["gpu", steps, channels], "state": ["gpu", 1]}
    return helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
