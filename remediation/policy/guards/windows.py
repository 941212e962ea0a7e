"""Maintenance windows as a guard: whether work may be disturbed now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.facts.refusal import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remediation.policy.bounds.windows import Window


def closed(windows: Iterable[Window], now: float) -> Refusal | None:
    """Return why work must not be disturbed now, or None; without windows any time is good."""
    windows = tuple(windows)
    if not windows or any(window.is_open(now) for window in windows):
        return None
    return Refusal(Reason.WINDOW_CLOSED, "no maintenance window is open")
