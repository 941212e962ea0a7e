"""One scale that divides every duration in a copy of a shipped file, and nothing else (pure).

A deadline on a real program is the one exception: it is divided, but never
below `DEADLINE_FLOOR_SECONDS`, because the program does not run faster for it.
"""

from __future__ import annotations

import re
from typing import Any

UNITS_SECONDS = {
    "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0,
    "d": 86_400.0, "w": 604_800.0, "y": 31_536_000.0,
}  # fmt: skip
DEADLINE_FLOOR_SECONDS = 0.45
_DEADLINE = re.compile(r"(?:^|_)(?:timeout|deadline)(?:_seconds)?$")
_PART = r"\d+(?:ms|[smhdwy])"
_DURATION = re.compile(rf"(?:{_PART})+")
_RANGE = re.compile(rf"\[((?:{_PART})+)(:(?:(?:{_PART})+)?)?\]")
_OFFSET = re.compile(rf"\boffset(\s+-?)((?:{_PART})+)")
_PROMETHEUS_KEYS = frozenset(
    {
        "for", "keep_firing_for", "interval", "limit_interval",
        "scrape_interval", "scrape_timeout", "evaluation_interval",
        "group_wait", "group_interval", "repeat_interval", "resolve_timeout",
    }
)  # fmt: skip


class NotADuration(ValueError):
    """A value at a duration key that is no Prometheus duration."""


def seconds(text: str) -> float:
    """Return the seconds of a Prometheus duration such as `1h30m`; raises `NotADuration`."""
    if not _DURATION.fullmatch(text):
        raise NotADuration(f"{text!r}: expected a duration such as 30s, 5m or 1h30m")
    parts = re.findall(r"(\d+)(ms|[smhdwy])", text)
    return sum(int(count) * UNITS_SECONDS[unit] for count, unit in parts)


def shorter(text: str, scale: float) -> str:
    """Divide one duration; whole milliseconds, never below one, and zero stays zero."""
    whole = seconds(text)
    return f"{max(1, round(whole * 1_000 / scale))}ms" if whole else "0s"


def expression(promql: str, scale: float) -> str:
    """Divide every range, subquery step and offset of a PromQL expression."""
    scaled = _RANGE.sub(
        lambda match: f"[{shorter(match[1], scale)}{_subquery(match[2], scale)}]", promql
    )
    return _OFFSET.sub(lambda match: f"offset{match[1]}{shorter(match[2], scale)}", scaled)


def _subquery(step: str | None, scale: float) -> str:
    if step is None:
        return ""
    return ":" if step == ":" else f":{shorter(step[1:], scale)}"


def document(node: Any, scale: float) -> Any:
    """Return a copy of a parsed YAML document of ours, Prometheus' or Alertmanager's, compressed.

    Divides numbers under keys that end in `_seconds`, duration strings under
    Prometheus' and Alertmanager's own duration keys, and ranges inside `expr`.
    """
    if isinstance(node, list):
        return [document(item, scale) for item in node]
    if isinstance(node, dict):
        return {key: _value(key, value, scale) for key, value in node.items()}
    return node


def _value(key: str, value: Any, scale: float) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and key.endswith("_seconds"):
        return value / _divisor(key, value, scale)
    if isinstance(value, str):
        if key in _PROMETHEUS_KEYS:
            return shorter(value, _divisor(key, seconds(value), scale))
        return expression(value, scale) if key == "expr" else value
    return document(value, scale)


def _divisor(key: str, value_seconds: float, scale: float) -> float:
    """Return the scale, or for a deadline the most that keeps it at its floor."""
    if not _DEADLINE.search(key):
        return scale
    return min(scale, max(1.0, value_seconds / DEADLINE_FLOOR_SECONDS))
