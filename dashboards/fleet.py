"""The fleet and its nodes on one page: who is at risk, why, who is looking, what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana_foundation_sdk.builders import dashboard as grafana
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from dashboards.panels import (
    ANY_IS_BAD,
    CALM,
    NONE_IS_BAD,
    SOURCE,
    Look,
    matrix,
    number,
    over_time,
    ranking,
)

if TYPE_CHECKING:
    from grafana_foundation_sdk.cog.builder import Builder
    from grafana_foundation_sdk.models.dashboard import Dashboard, Panel

    Panels = list[Builder[Panel]]

UID = "forewarn-fleet"
"""Never changes: the alerts' `dashboard_url` names it."""

RISK = Look(unit="percentunit", steps=CALM)
TALL = Look(unit="percentunit", steps=CALM, height=12)
SMALL = Look(width=6, height=4)
THIRD = Look(width=8)


def dashboard() -> Dashboard:
    """Build the page."""
    page = (
        grafana.Dashboard("Forewarn fleet")
        .uid(UID)
        .description("Which GPU nodes will fail, why and how soon, and what was done about it.")
        .tags(["forewarn"])
        .refresh("30s")
        .time("now-6h", "now")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .readonly()
        .with_variable(_datasource())
        .with_variable(_values("node", "Node", "forewarn_prediction_state"))
        .with_variable(_horizon())
    )
    for title, panels in _rows().items():
        page = page.with_row(grafana.Row(title))
        for panel in panels:
            page = page.with_panel(panel)
    return page.build()


def _rows() -> dict[str, Panels]:
    return {
        "Risk": _risk(),
        "Evidence": _evidence(),
        "Telemetry": _telemetry(),
        "Sources": _sources(),
        "Remediation": _remediation(),
    }


def _risk() -> Panels:
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
            Look(width=6, height=4, steps=ANY_IS_BAD),
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


def _evidence() -> Panels:
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


def _telemetry() -> Panels:
    per_gpu = "{{node}} GPU {{gpu}}"

    def gpu(title: str, channel: str, unit: str, text: str) -> Builder[Panel]:
        query = f'max by (node, gpu) (forewarn_{channel}{{node=~"$node"}})'
        return over_time(title, {per_gpu: query}, text, Look(unit=unit, width=8))

    def errors(title: str, channel: str, text: str) -> Builder[Panel]:
        rate = f'rate(forewarn_{channel}{{node=~"$node"}}[$__rate_interval])'
        return over_time(title, {per_gpu: f"max by (node, gpu) ({rate})"}, text, THIRD)

    def node(title: str, channel: str, unit: str, text: str) -> Builder[Panel]:
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


def _sources() -> Panels:
    return [
        matrix(
            "Sources up",
            'min by (node, source) (forewarn_source_up{node=~"$node"})',
            "1 when the last cycle read the source.",
            Look(width=8, steps=NONE_IS_BAD),
            rows="node",
            columns="source",
        ),
        matrix(
            "Prediction state",
            'max by (node, state) (forewarn_prediction_state{node=~"$node"})',
            "One state per node is 1.",
            Look(width=8),
            rows="node",
            columns="state",
        ),
        over_time(
            "Age of the last reading",
            {
                "{{node}} {{source}}": "time() - max by (node, source)"
                ' (forewarn_source_last_success_timestamp_seconds{node=~"$node"})'
            },
            "Grows while a source is down.",
            Look(unit="s", width=8),
        ),
        over_time(
            "Source errors per second",
            {
                "{{node}} {{source}} {{reason}}": "sum by (node, source, reason)"
                ' (rate(forewarn_source_errors_total{node=~"$node"}[$__rate_interval]))'
            },
            "By reason.",
            THIRD,
        ),
        over_time(
            "GPUs expected and not seen",
            {
                "{{node}}": 'max by (node) (forewarn_gpus_expected{node=~"$node"})'
                ' - max by (node) (forewarn_gpus_seen{node=~"$node"})'
            },
            "Above zero: a GPU is lost, or was removed without being declared.",
            THIRD,
        ),
        ranking(
            "Models in use",
            "count by (version, provenance) (forewarn_model_info)",
            "Nodes by model version and by what it was trained on.",
            THIRD,
        ),
    ]


def _remediation() -> Panels:
    return []


def _datasource() -> grafana.DatasourceVariable:
    return grafana.DatasourceVariable("datasource").label("Data source").type("prometheus")


def _values(name: str, label: str, metric: str) -> grafana.QueryVariable:
    return (
        grafana.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(f"label_values({metric}, {name})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_CASE_INSENSITIVE_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text="All", value="$__all"))
    )


def _horizon() -> grafana.CustomVariable:
    return (
        grafana.CustomVariable("horizon")
        .label("Horizon")
        .values("1h,6h,24h,72h")
        .current(VariableOption(selected=True, text="24h", value="24h"))
    )
