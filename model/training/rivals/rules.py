"""Static alert rules as operators publish them, on the same readings.

Thresholds are those that several public rule sets share.  Left out are rules
that fire on every busy node of this board whatever its state (fixed watts
below its limit, spread of power, utilisation, memory fill, any XID at all):
they would only make the packs look worse.  A rule on a missing reading is
silent, as in Prometheus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.training.network.scaling import HARDWARE_XIDS, PRECURSOR_XIDS
from model.training.rivals.rival import Rival, Seen, held, since_last_look, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from model.training.episodes.dataset import Episode
    from model.training.rivals.rival import Condition

    Rule = Callable[[Seen], Condition]

FATAL_XIDS = (48, 74, 79, 95, 119, 120, 140)
HOUR = 60


def _hotter(celsius: float, minutes: int) -> Rule:
    return lambda seen: held(seen("gpu_temperature_celsius") > celsius, minutes)


def _counted(name: str, more_than: float, minutes: int) -> Rule:
    return lambda seen: total(seen(name), minutes) > more_than


def _flag(name: str, minutes: int = 1) -> Rule:
    return lambda seen: held(seen(name) > 0, minutes)


def _xid(codes: tuple[int, ...]) -> Rule:
    return lambda seen: np.isin(seen("gpu_xid_code"), codes)


def _single_bits_for_half_an_hour(seen: Seen) -> Condition:
    return held(total(seen("gpu_memory_correctable_errors_total"), HOUR) > 10, 30)


def _two_of_memory(seen: Seen) -> Condition:
    """One public pack alerts on two of: single-bit rate, remaps in six hours, uncorrectable."""
    remaps = total(seen("gpu_remapped_rows_correctable_total"), 6 * HOUR)
    uncorrectable = total(seen("gpu_memory_uncorrectable_errors_total"), HOUR)
    rate = total(seen("gpu_memory_correctable_errors_total"), HOUR)
    signs = [rate > 10, remaps > 3, uncorrectable > 0]
    return np.asarray(np.sum(signs, axis=0) >= 2)


def _narrow_link(seen: Seen) -> Condition:
    width = seen("gpu_pcie_link_width")
    return held(width < 16, 5)


def _missing(seen: Seen) -> Condition:
    """A GPU reports nothing for five minutes while a sibling does."""
    reports = seen.reports
    return held(~reports & reports.any(0, keepdims=True), 5)


SIMPLE: dict[str, Rule] = {
    "hotter than 85 C for 5 min": _hotter(85.0, 5),
    "a double-bit error": _counted("gpu_memory_uncorrectable_errors_total", 0, 5),
    "a row remap failed": _flag("gpu_row_remap_failed"),
    "a fatal XID": _xid(FATAL_XIDS),
}
"""The four that nearly every cluster has."""

FULL: dict[str, Rule] = {
    **SIMPLE,
    "hotter than 80 C for 5 min": _hotter(80.0, 5),
    "thermal slowdown for 3 min": _flag("gpu_thermal_slowdown_active", 3),
    "power brake for 3 min": _flag("gpu_power_brake_active", 3),
    "thermal violation above 1 s in 30 min": _counted("gpu_thermal_violation_seconds_total", 1, 30),
    "single-bit errors above 10 an hour for 30 min": _single_bits_for_half_an_hour,
    "single-bit errors above 100 an hour": _counted("gpu_memory_correctable_errors_total", 100, 60),
    "an uncorrectable remap": _counted("gpu_remapped_rows_uncorrectable_total", 0, 5),
    "correctable remaps above 5 in 6 h": _counted("gpu_remapped_rows_correctable_total", 5, 360),
    "a remap is pending": _flag("gpu_row_remap_pending"),
    "two signs of memory": _two_of_memory,
    "a hardware or precursor XID": _xid(HARDWARE_XIDS + PRECURSOR_XIDS),
    "NVLink CRC errors in 10 min": _counted("gpu_nvlink_crc_errors_total", 0, 10),
    "an NVLink replay": _counted("gpu_nvlink_replay_errors_total", 0, 10),
    "an NVLink recovery": _counted("gpu_nvlink_recovery_errors_total", 0, 10),
    "PCIe replays above 5 in 30 min": _counted("gpu_pcie_replays_total", 5, 30),
    "PCIe narrower than 16 lanes for 5 min": _narrow_link,
    "a GPU is missing for 5 min": _missing,
    "a leak is detected": _flag("node_leak_detected"),
    "a power supply failed": _flag("node_power_supplies_failed", 5),
}
"""All that are published and can say something of this board."""


def pack(name: str, rules: dict[str, Rule]) -> Rival:
    """Return a pack as a rival: its score is how many of its rules fire."""

    def score(episode: Episode, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        seen = Seen(episode)
        firing = [np.asarray(rule(seen).any(0), np.float64) for rule in rules.values()]
        return np.asarray(np.sum([since_last_look(one, steps) for one in firing], axis=0))

    return Rival(name, 1.0, score)
