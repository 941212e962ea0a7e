"""What an XID code says of the hardware (NVIDIA's XID catalogue, 2025 to 2026).

Codes that an application raises by itself are kept apart on purpose: they are
by far the most frequent, and no failure of a node.
"""

from __future__ import annotations

from enum import StrEnum


class XidClass(StrEnum):
    """Whom a code accuses."""

    HARDWARE = "hardware"
    """The catalogue asks for a reset, a reboot, a diagnostic or a repair."""
    PRECURSOR = "precursor"
    """Contained, weak, or unknown: may come before a failure, is none."""
    APPLICATION = "application"
    """Software, or a follower of another code."""


HARDWARE = frozenset(
    {46, 48, 54, 62, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143}
    | set(range(144, 151))
    | {155, 156, 157, 158, 167}
)
APPLICATION = frozenset(
    {8, 11, 13, 25, 31, 32, *range(37, 42), 43, 44, 45, 60, *range(66, 73), *range(75, 79)}
    | {80, *range(82, 87), 88, 89, *range(96, 109), *range(126, 136)}
    | {137, 139, 141, 151, 152, 153}
)
INFORMATIONAL = frozenset({154})
"""Recovery action changed: the action itself is a channel of its own."""


def classify(code: int) -> XidClass | None:
    """Return whom `code` accuses; None for none (0) and for mere information."""
    if code <= 0 or code in INFORMATIONAL:
        return None
    if code in HARDWARE:
        return XidClass.HARDWARE
    return XidClass.APPLICATION if code in APPLICATION else XidClass.PRECURSOR
