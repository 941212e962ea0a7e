"""Rows about ourselves: sources and models of the exporters, and remediation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.panels import (
    ANY_IS_BAD,
    NONE_IS_BAD,
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
    from dashboards.panels import Panels

OWN = "forewarn_remediation_"


def sources() -> Panels:
    """Who is looking, and at what."""
    return [*_states(), *_troubles(), *_lacks(), *_predicting(), *_doubts()]


def _states() -> Panels:
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
    ]


def _troubles() -> Panels:
    return [
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


def _lacks() -> Panels:
    return [
        ranking(
            "Blind channels",
            'sort_desc(count by (channel) (forewarn_channel_blind{node=~"$node"}))',
            "Nodes where no GPU has a value: not in the counter list, or not on the board.",
            THIRD,
        ),
        over_time(
            "Missing readings",
            {"{{kind}}": 'sum by (kind) (forewarn_missing_readings{node=~"$node"}) > 0'},
            "Channels of GPUs and nodes without a value, by kind of missing.",
            THIRD,
        ),
        over_time(
            "Oldest reading that takes turns",
            {"{{node}}": 'max by (node) (forewarn_reading_age_seconds{node=~"$node"})'},
            "Sensors that are not asked each cycle.",
            Look(unit="s", width=8),
        ),
    ]


def _predicting() -> Panels:
    backfill = "forewarn_backfill_state"
    return [
        ranking(
            "Cold windows and their past",
            f'count by (state) ({backfill}{{node=~"$node"}} == 1)'
            f' or label_replace(count(forewarn_window_fill_ratio{{node=~"$node"}}'
            f' unless on (node) {backfill}), "state", "not configured", "", "")',
            "Nodes by how far a cold window was filled from Prometheus.",
            THIRD,
        ),
        over_time(
            "Time of a prediction",
            {"{{node}}": 'max by (node) (forewarn_inference_duration_seconds{node=~"$node"})'},
            "The last grid step, with those that were caught up.",
            Look(unit="s", width=8),
        ),
        ranking(
            "Refused models",
            'topk(10, sum by (node, reason) (forewarn_model_refusals_total{node=~"$node"}))',
            "Since the exporter's start; runtime: the model's runtime itself does not work.",
            THIRD,
        ),
    ]


def _doubts() -> Panels:
    drift = "forewarn_model_input_drift"
    return [
        over_time(
            "Input drift",
            {"{{node}}": f'max by (node) ({drift}{{node=~"$node"}})'},
            "Share of the node's readings outside what its model was trained on, over a day.",
            Look(unit="percentunit", width=8),
        ),
        ranking(
            "Channels outside the training range",
            f'topk(10, max by (node, channel) ({drift}_by_channel{{node=~"$node"}}))'
            f' or topk(10, max by (node) ({drift}{{node=~"$node"}}))',
            "Share of its time that each channel is outside; rows without one are whole nodes.",
            Look(unit="percentunit", width=8),
        ),
        ranking(
            "Models in doubt",
            'topk(10, max by (node, reason) (forewarn_model_doubted{node=~"$node"}))',
            "Where this is 1, the model may not drive remediation.",
            THIRD,
        ),
    ]


def remediation() -> Panels:
    """What was done about it, and what was not."""
    return [*_standing(), *_doings()]


def _standing() -> Panels:
    return [
        number(
            "Leaders", f"sum({OWN}leader)", "Replicas that act; 1 is right.", small(NONE_IS_BAD)
        ),
        number("Breaker", f"max({OWN}breaker_open)", "1: stopped by itself.", small(ANY_IS_BAD)),
        number("Paused", f"max({OWN}paused)", "1: stopped by a person.", small(ANY_IS_BAD)),
        number("Suspects", f"max({OWN}suspects)", "Alerts in the ledger.", SMALL),
        over_time(
            "Episodes",
            {"{{state}}": f"max by (state) ({OWN}episodes)"},
            "By state; observed means that nothing was touched.",
            THIRD,
        ),
        ranking(
            "Refused now",
            f"topk(10, max by (reason) ({OWN}refused_episodes))",
            "Which guard keeps how many episodes waiting.",
            THIRD,
        ),
        over_time(
            "Budget left",
            {"{{scope}}": f"max by (scope) ({OWN}budget_available)"},
            "By scope; at zero the next one waits.",
            THIRD,
        ),
    ]


def _doings() -> Panels:
    return [
        over_time(
            "Decisions per second",
            {
                "{{decision}} acted={{acted}}": "sum by (decision, acted)"
                f" (rate({OWN}decisions_total[$__rate_interval]))"
            },
            "What was decided, and whether it was done or only observed.",
            THIRD,
        ),
        over_time(
            "Posts and evictions per second",
            {
                "post {{outcome}}": "sum by (outcome)"
                f" (rate({OWN}webhook_posts_total[$__rate_interval]))",
                "eviction {{outcome}}": "sum by (outcome)"
                f" (rate({OWN}evictions_total[$__rate_interval]))",
            },
            "By outcome.",
            THIRD,
        ),
        over_time(
            "Failed calls per second",
            {
                "{{source}} {{reason}}": "sum by (source, reason)"
                f" (rate({OWN}errors_total[$__rate_interval]))"
            },
            "By whom was asked, and how it failed.",
            THIRD,
        ),
    ]
