"""The levels at which the shipped rules call a probability critical or a warning."""

from __future__ import annotations

from pathlib import Path

import yaml

RULES = Path(__file__).parents[2] / "alerts" / "predictions.rules.yml"
RECORD = "forewarn:alert_threshold:ratio"


def alert_levels() -> dict[str, dict[str, float]]:
    """Return severity → horizon → level."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    levels: dict[str, dict[str, float]] = {}
    for rule in (rule for group in groups for rule in group["rules"]):
        if rule.get("record") == RECORD:
            level = float(rule["expr"].removeprefix("vector(").removesuffix(")"))
            levels.setdefault(rule["labels"]["severity"], {})[rule["labels"]["horizon"]] = level
    return levels
