"""Every metric the exporter publishes: the one list behind page, reference and contract tests."""

# ruff: noqa: E501 - a table reads by row

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model import schema


class Kind(StrEnum):
    """How Prometheus shall read it."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Metric:
    """One family by its full name, a counter's `_total` included."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str


NODE = ("node",)
GPU = ("node", "gpu", "uuid")
SOURCE = ("node", "source")
EQUIPMENT = ("equipment", "rack")
G, C = Kind.GAUGE, Kind.COUNTER

# fmt: off
PREDICTIONS: tuple[Metric, ...] = (
    Metric("forewarn_node_failure_probability", G, (*NODE, "horizon"), "Probability of a hardware failure that interrupts work on this node within the horizon."),
    Metric("forewarn_cause_failure_probability", G, (*NODE, "cause", "horizon"), "Failure probability by competing cause."),
    Metric("forewarn_gpu_failure_probability", G, (*GPU, "horizon"), "Failure probability of one GPU."),
    Metric("forewarn_gpu_anomaly_score", G, GPU, "Anomaly score, standardised on held-out healthy data: 1 is typical."),
    Metric("forewarn_signal_contribution_ratio", G, (*GPU, "signal"), "Share of the channels that drove the score most."),
    Metric("forewarn_prediction_state", G, (*NODE, "state"), "1 for the state that holds; probabilities exist only in ok and degraded."),
    Metric("forewarn_prediction_degraded", G, (*NODE, "reason"), "1 while the reason makes the prediction worth less."),
    Metric("forewarn_prediction_timestamp_seconds", G, NODE, "When the prediction on this page was made."),
    Metric("forewarn_window_fill_ratio", G, NODE, "Share of the window's steps in which a GPU was read."),
)
HEALTH: tuple[Metric, ...] = (
    Metric("forewarn_source_up", G, SOURCE, "1 while the source answers, with or without data."),
    Metric("forewarn_source_last_success_timestamp_seconds", G, SOURCE, "When the source last gave readings."),
    Metric("forewarn_source_scrape_duration_seconds", G, SOURCE, "How long the last read took."),
    Metric("forewarn_source_errors_total", C, (*SOURCE, "reason"), "Failed reads, and readings that were refused, by reason."),
    Metric("forewarn_source_strategy_info", G, (*SOURCE, "strategy"), "How the source is being read."),
    Metric("forewarn_reading_age_seconds", G, (*NODE, "channel"), "Age of a reading that takes turns with others; what is read each cycle has none."),
    Metric("forewarn_missing_readings", G, (*NODE, "kind"), "Channels of GPUs and node without a value, by kind of missing."),
    Metric("forewarn_gpus_expected", G, NODE, "GPUs that must report; absent while nobody knows."),
    Metric("forewarn_gpus_seen", G, NODE, "GPUs that report; absent while they cannot be counted."),
    Metric("forewarn_gpus_unexplained", G, NODE, "Missing GPUs whose absence does not look planned: at work, accused by an XID, or accounted for by neither the BMC nor a reload of the source."),
    Metric("forewarn_gpu_departure_info", G, (*GPU, "after", "activity", "xid", "bmc"), "How a missing GPU left the page: what the source did meanwhile, whether the GPU was at work, and what else speaks of it."),
    Metric("forewarn_channel_blind", G, (*NODE, "channel"), "1 for a channel that dcgm-exporter delivers for no GPU: not in its counter list, or not supported."),
    Metric("forewarn_gpu_workload_info", G, (*GPU, "workload_namespace", "workload_pod", "workload_container"), "A pod that the source sees on the GPU."),
    Metric("forewarn_inference_duration_seconds", G, NODE, "How long the last grid step took, replay included."),
    Metric("forewarn_inference_failures_total", C, NODE, "Grid steps that ended in an error."),
    Metric("forewarn_model_info", G, (*NODE, "version", "provenance", "scope", "digest"), "The model in force."),
    Metric("forewarn_model_trained_timestamp_seconds", G, NODE, "When the model in force was trained."),
    Metric("forewarn_model_input_drift", G, NODE, "Share of the node's readings outside the model's training range (four deviations around the healthy mean), averaged over a day; absent where the model tells no range."),
    Metric("forewarn_model_input_drift_by_channel", G, (*NODE, "channel"), "The same of one channel, while it is not 0."),
    Metric("forewarn_model_doubted", G, (*NODE, "reason"), "1 while the reason keeps the model in force from driving remediation."),
    Metric("forewarn_model_reload_success", G, NODE, "0 while an artefact on the shelf is refused."),
    Metric("forewarn_model_refusals_total", C, (*NODE, "reason"), "Artefacts refused, by reason."),
    Metric("forewarn_window_save_success", G, NODE, "0 while the window cannot be saved or restored; absent where it is not kept."),
    Metric("forewarn_settings_reload_success", G, NODE, "0 while a changed settings file is refused."),
    Metric("forewarn_backfill_state", G, (*NODE, "state"), "1 for how far a cold window was filled from Prometheus; absent where that is not configured."),
    Metric("forewarn_backfill_steps", G, NODE, "Grid steps that were read back."),
    Metric("forewarn_certificate_expiry_timestamp_seconds", G, NODE, "When the server certificate in use ends; absent without TLS."),
    Metric("forewarn_certificate_reload_success", G, NODE, "0 while a changed server certificate is refused; absent without TLS."),
    Metric("forewarn_build_info", G, ("version",), "The running version."),
)
FACILITY: tuple[Metric, ...] = (
    Metric("forewarn_facility_equipment_info", G, (*EQUIPMENT, "kind"), "A piece of equipment and the rack that it serves."),
    Metric("forewarn_facility_rack_info", G, ("rack", "node"), "A node and the rack that it stands in."),
    Metric("forewarn_facility_missing_readings", G, (*EQUIPMENT, "kind"), "Channels that the equipment has and shows no value of, by kind of missing."),
    Metric("forewarn_facility_source_up", G, EQUIPMENT, "1 while the equipment answers."),
    Metric("forewarn_facility_source_last_success_timestamp_seconds", G, EQUIPMENT, "When the equipment last gave readings."),
    Metric("forewarn_facility_source_read_duration_seconds", G, EQUIPMENT, "How long the last read took."),
    Metric("forewarn_facility_source_requests", G, EQUIPMENT, "Requests that the last read took."),
    Metric("forewarn_facility_source_oldest_reading_seconds", G, EQUIPMENT, "Age of the oldest reading that waits for its turn and still counts."),
    Metric("forewarn_facility_source_errors_total", C, ("equipment", "reason"), "Failed reads, and readings that were refused, by reason."),
    Metric("forewarn_facility_settings_reload_success", G, (), "0 while a changed settings file of the facility exporter is refused."),
)
"""What only the facility exporter publishes, beside its channels."""
# fmt: on


LABELS = {schema.Level.GPU: GPU, schema.Level.NODE: NODE, schema.Level.FACILITY: EQUIPMENT}


def _of_channel(channel: schema.Channel) -> Metric:
    kind = C if channel.kind is schema.Kind.COUNTER else G
    return Metric(channel.metric, kind, LABELS[channel.level], f"{channel.text}.")


INPUTS: tuple[Metric, ...] = tuple(_of_channel(channel) for channel in schema.CHANNELS)
METRICS: tuple[Metric, ...] = (*PREDICTIONS, *INPUTS, *HEALTH, *FACILITY)
BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}
