"""The demo runs on copies of the shipped files, changed only where it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.demo import shipped


def test_changes_are_merged_into_a_compressed_copy(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("tick_seconds: 60\nlimits: {nodes: 2, soak_seconds: 30}\n")
    copy = shipped.compressed("a.yml", 30, {"limits": {"nodes": 3}}, root=tmp_path)
    assert copy == {"tick_seconds": 2, "limits": {"nodes": 3, "soak_seconds": 1}}


def test_outside_a_checkout_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(shipped.NoCheckout, match="runs from a checkout"):
        shipped.load("alerts/absent.yml", root=tmp_path)


def test_every_duration_of_the_shipped_rules_is_compressed() -> None:
    for path in sorted((shipped.CHECKOUT / "alerts").glob("*.rules.yml")):
        before = path.read_text().count(" for: ")
        rules = [
            rule
            for group in shipped.compressed(f"alerts/{path.name}", 60, {})["groups"]
            for rule in group["rules"]
        ]
        assert sum("for" in rule for rule in rules) == before
        assert all(
            rule["for"].endswith("ms") or rule["for"] == "0s" for rule in rules if "for" in rule
        )
