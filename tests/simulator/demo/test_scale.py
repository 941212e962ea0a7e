"""The demo's scale divides durations, all of them, and nothing else."""

from __future__ import annotations

import pytest

from simulator.demo import scale


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1h", "60000ms"), ("1h30m", "90000ms"), ("15s", "250ms"), ("10ms", "1ms"), ("0s", "0s")],
)
def test_a_duration_is_divided_to_whole_milliseconds(text: str, expected: str) -> None:
    assert scale.shorter(text, 60) == expected


def test_what_is_no_duration_is_refused() -> None:
    with pytest.raises(scale.NotADuration, match="expected a duration"):
        scale.seconds("soon")


@pytest.mark.parametrize(
    ("promql", "expected"),
    [
        ("rate(a[5m]) > 0.2", "rate(a[5000ms]) > 0.2"),
        ("max_over_time(a[1h:1m])", "max_over_time(a[60000ms:1000ms])"),
        ("max_over_time(a[1h:])", "max_over_time(a[60000ms:])"),
        ("a offset 10m", "a offset 10000ms"),
        ('a{horizon="24h"} > 0.5', 'a{horizon="24h"} > 0.5'),
    ],
)
def test_ranges_and_offsets_are_divided_and_horizon_labels_are_not(
    promql: str, expected: str
) -> None:
    assert scale.expression(promql, 60) == expected


def test_a_settings_file_keeps_everything_but_its_seconds() -> None:
    shipped = {"tick_seconds": 60, "limits": {"nodes": 2, "soak_seconds": 90.0}, "mode": "observe"}
    assert scale.document(shipped, 60) == {
        "tick_seconds": 1.0,
        "limits": {"nodes": 2, "soak_seconds": 1.5},
        "mode": "observe",
    }


def test_a_rule_file_keeps_labels_and_thresholds() -> None:
    alert = {"alert": "A", "expr": "x[5m] > 0.5", "for": "5m", "labels": {"horizon": "24h"}}
    shipped = {"groups": [{"name": "g", "interval": "30s", "rules": [alert]}]}
    rule = scale.document(shipped, 60)["groups"][0]
    assert rule["interval"] == "500ms"
    assert rule["rules"][0] == {
        "alert": "A", "expr": "x[5000ms] > 0.5", "for": "5000ms", "labels": {"horizon": "24h"},
    }  # fmt: skip


def test_a_deadline_on_a_real_program_keeps_its_floor() -> None:
    shipped = {"connect_timeout_seconds": 4.0, "deadline_seconds": 45.0, "tick_seconds": 6.0}
    assert scale.document(shipped, 60) == {
        "connect_timeout_seconds": pytest.approx(scale.DEADLINE_FLOOR_SECONDS),
        "deadline_seconds": 0.75,
        "tick_seconds": 0.1,
    }
    assert scale.document({"scrape_timeout": "10s"}, 60) == {"scrape_timeout": "450ms"}
