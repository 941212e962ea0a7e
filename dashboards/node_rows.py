"""Rows about nodes and their GPUs: risk, the evidence for it, and telemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.panels import (
    ANY_IS_BAD,
    CALM,
    SMALL,
    THIRD,
    Look,
    matrix,
    number,
    over_time,
    ranking,
    small,
)

if TYPE_CHECKING:
    from dashboards.panels import AnyPanel, Panels

RISK = Look(unit="percentunit", steps=CALM)
TALL = Look(unit="percentunit", steps=CALM, height=12)


def risk() -> Panels:
    """Who will fail, why and how soon."""
    return [*_headline(), *_now(), *_before()]


def _headline() -> Panels:
    state = "max by (node) (forewarn_prediction_state"
    return [
        number(
            "Nodes predicted",
            f'sum({state}{{state=~"ok|degraded"}}))',
            "Nodes with a prediction in force.",
            SMALL,
        ),
        number(
            "Nodes not predicted",
            f'sum({state}{{state!~"ok|degraded"}}))',
            "Nodes that look calm on every other panel only because nobody predicts them.",
            small(ANY_IS_BAD),
        ),
        number(
            "Failures expected",
            'sum(max by (node) (forewarn_node_failure_probability{horizon="$horizon"}))',
            "Sum of the nodes' probabilities: how many are expected to fail within the horizon.",
            SMALL,
        ),
        number(
            "Highest probability",
            'max(forewarn_node_failure_probability{horizon="$horizon"})',
            "Of any node, within the horizon.",
            Look(unit="percentunit", width=6, height=4, steps=CALM),
        ),
    ]


def _now() -> Panels:
    return [
        matrix(
            "Risk by horizon",
            'max by (node, horizon) (forewarn_node_failure_probability{node=~"$node"})',
            "Probability that a hardware failure interrupts work on the node within the horizon.",
            TALL,
            rows="node",
            columns="horizon",
        ),
        matrix(
            "Risk by cause",
            "max by (node, cause)"
            ' (forewarn_cause_failure_probability{node=~"$node", horizon="$horizon"})',
            "The same by competing cause, within the chosen horizon.",
            TALL,
            rows="node",
            columns="cause",
        ),
    ]


def _before() -> Panels:
    return [
        over_time(
            "Probability",
            {
                "{{node}}": "max by (node) (forewarn_node_failure_probability"
                '{node=~"$node", horizon="$horizon"})'
            },
            "By node, within the chosen horizon. A gap means that the prediction was withdrawn.",
            Look(unit="percentunit"),
        ),
        over_time(
            "Probability by cause",
            {
                "{{node}} {{cause}}": "max by (node, cause) (forewarn_cause_failure_probability"
                '{node=~"$node", horizon="$horizon"})'
            },
            "By node and cause, within the chosen horizon. Choose one node.",
            Look(unit="percentunit"),
        ),
    ]


def evidence() -> Panels:
    """What the model saw: scores, GPUs, signals."""
    score = "forewarn_gpu_anomaly_score"
    return [
        matrix(
            "Anomaly score by GPU",
            f'max by (node, gpu) ({score}{{node=~"$node"}})',
            "How far a GPU's window is from what healthy ones look like; 1 is typical.",
            Look(heat=True),
            rows="node",
            columns="gpu",
        ),
        ranking(
            "GPUs at risk",
            "topk(10, max by (node, gpu, uuid) (forewarn_gpu_failure_probability"
            '{node=~"$node", horizon="$horizon"}))',
            "The ten GPUs with the highest probability within the horizon.",
            RISK,
        ),
        ranking(
            "Signals behind the score",
            "topk(15, max by (node, gpu, signal)"
            ' (forewarn_signal_contribution_ratio{node=~"$node"}))',
            "Which channels drove the score, as shares of it.",
            Look(unit="percentunit", heat=True),
        ),
        over_time(
            "Anomaly score, top ten",
            {"{{node}} GPU {{gpu}}": f'topk(10, max by (node, gpu) ({score}{{node=~"$node"}}))'},
            "The GPUs that stand out over time.",
            Look(),
        ),
    ]


def telemetry() -> Panels:
    """What it was fed: a choice of channels, as read."""
    per_gpu = "{{node}} GPU {{gpu}}"

    def gpu(title: str, channel: str, unit: str, text: str) -> AnyPanel:
        query = f'max by (node, gpu) (forewarn_{channel}{{node=~"$node"}})'
        return over_time(title, {per_gpu: query}, text, Look(unit=unit, width=8))

    def errors(title: str, channel: str, text: str) -> AnyPanel:
        rate = f'rate(forewarn_{channel}{{node=~"$node"}}[$__rate_interval])'
        return over_time(title, {per_gpu: f"max by (node, gpu) ({rate})"}, text, THIRD)

    def node(title: str, channel: str, unit: str, text: str) -> AnyPanel:
        query = f'max by (node) (forewarn_{channel}{{node=~"$node"}})'
        return over_time(title, {"{{node}}": query}, text, Look(unit=unit, width=6))

    return [
        gpu("Core temperature", "gpu_temperature_celsius", "celsius", "Compare with neighbours."),
        gpu(
            "Memory temperature",
            "gpu_memory_temperature_celsius",
            "celsius",
            "Boards without a sensor are absent.",
        ),
        gpu("Board power", "gpu_power_watts", "watt", "Averaged by the driver."),
        gpu("SM clock", "gpu_sm_clock_hertz", "hertz", "Falls with idleness, caps and heat."),
        errors(
            "Correctable memory errors per second",
            "gpu_memory_correctable_errors_total",
            "Single-bit errors.",
        ),
        errors(
            "NVLink replays per second",
            "gpu_nvlink_replay_errors_total",
            "All links of a GPU.",
        ),
        node("Inlet air", "node_inlet_temperature_celsius", "celsius", "At the node's inlet."),
        node("Slowest fan", "node_fan_speed_rpm", "rotrpm", "Of those that ever turned."),
        node("Coolant flow", "node_coolant_flow_liters_per_minute", "flowlpm", "Through the node."),
        node("Node power", "node_power_watts", "watt", "As the BMC measures it."),
    ]
