"""Histories → increments → windows and labels, one node at a time.

Bounded memory: a few nodes are simulated together and handed on one by one;
windows are views, copied only for the moments that are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from model.increments import POWER_LIMIT, Bound, increments, most_per_step
from model.schema import BY_NAME, Cause, Kind, Level, Origin
from model.training.episodes.labels import Outcome
from model.training.network.scaling import XID
from simulator.faults import story
from simulator.faults.story import Pace
from simulator.history import record_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from model.training.episodes.plan import Planned
    from simulator.history import NodeHistory

NODES_AT_ONCE = 4

REQUIRED = ("gpu_temperature_celsius", "gpu_power_watts")
"""Without these no probability is published; every dcgm-exporter delivers them."""

UNLISTED_IN_STOCK = frozenset(
    {
        "gpu_temperature_margin_celsius",
        "gpu_power_limit_watts",
        "gpu_thermal_slowdown_active",
        "gpu_power_brake_active",
        "gpu_power_cap_active",
        "gpu_thermal_violation_seconds_total",
        "gpu_power_violation_seconds_total",
        "gpu_memory_correctable_errors_total",
        "gpu_memory_uncorrectable_errors_total",
        "gpu_row_remap_pending",
        "gpu_memory_spare_exhausted_banks",
        "gpu_pcie_link_width",
        "gpu_pcie_link_generation",
        "gpu_nvlink_crc_errors_total",
        "gpu_nvlink_replay_errors_total",
        "gpu_nvlink_recovery_errors_total",
        "gpu_recovery_action",
    }
)
"""What a dcgm-exporter with its stock counter list does not deliver."""

PROFILES = {"full": 0.45, "stock": 0.2, "no-bmc": 0.15, "sparse": 0.2}
"""How much of a site is visible, and how often training pretends that it is so."""
SPARSE_RATIO = 0.3


@dataclass(frozen=True, slots=True)
class Episode:
    """One node over time.

    `readings` float32 [gpu, step, channel]: gauges and flags in schema units,
    counters as increments, NaN where nothing was read.  Step i was read at
    `hours[i]`; `outcome.hours` is on the same clock and may lie behind the end.
    """

    node: str
    kind: str
    lookalike: bool
    channels: tuple[str, ...]
    readings: NDArray[np.float32]
    hours: NDArray[np.float64]
    outcome: Outcome | None
    onset_hours: float | None
    sudden: bool = False
    """Whether its kind of fault gives minutes of warning at most, or none that is measured."""

    @property
    def end_hours(self) -> float:
        """Until when the node was watched."""
        return float(self.hours[-1])

    @property
    def gpus(self) -> int:
        """The highest number of GPUs that were read at once; what a BMC says is of no GPU."""
        own = [BY_NAME[name].level is Level.GPU for name in self.channels]
        return int((~np.isnan(self.readings[:, :, own])).any(axis=2).sum(axis=0).max(initial=0))

    def of(self, names: Sequence[str]) -> Episode:
        """Return the episode with these channels alone, in this order; raises `ValueError`."""
        if tuple(names) == self.channels:
            return self
        picked = [self.channels.index(name) for name in names]
        return replace(self, channels=tuple(names), readings=self.readings[:, :, picked])

    def windows(self, steps: NDArray[np.int64], length: int) -> NDArray[np.float32]:
        """Return [moment, gpu, step, channel]: the windows that end at `steps`, NaN before time."""
        gpus, _, channels = self.readings.shape
        before = np.full((gpus, length - 1, channels), np.nan, np.float32)
        padded = np.concatenate((before, self.readings), axis=1)
        views = np.lib.stride_tricks.sliding_window_view(padded, length, axis=1)
        return np.ascontiguousarray(np.moveaxis(views[:, steps], (1, 3), (0, 2)))


def readings(values: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.float32]:
    """Turn [gpu, step, channel] into what the exporter feeds: increments, and lost rows of NaN.

    A GPU that shows nothing but its latched code has left, and the code with it.
    Energy that a board cannot have drawn since its last reading is NaN.
    """
    out = values.astype(np.float32)
    code = names.index(XID)
    alive = [i for i, n in enumerate(names) if BY_NAME[n].level is Level.GPU and i != code]
    out[np.isnan(values[:, :, alive]).all(-1), code] = np.nan
    counters = [i for i, name in enumerate(names) if BY_NAME[name].kind is Kind.COUNTER]
    by_step = np.ascontiguousarray(np.moveaxis(values[:, :, counters], 1, 0))
    bound = _bound(values, names, [names[i] for i in counters])
    out[:, :, counters] = np.moveaxis(increments(by_step, bound=bound), 0, 1)
    return out


def _bound(
    values: NDArray[np.float64], names: Sequence[str], counters: Sequence[str]
) -> Bound | None:
    """Return the most that `counters` can gain; `values` is [gpu, step, channel]."""
    limit = np.full(values.shape[1::-1], np.nan)
    if POWER_LIMIT in names:
        limit = values[:, :, names.index(POWER_LIMIT)].T
    most = most_per_step(counters, limit)
    return None if most is None else Bound(most, most[0], np.full(most.shape[1:], np.inf))


def episode(history: NodeHistory) -> Episode:
    """Read a simulated history as training sees every history."""
    steps = history.values.shape[1]
    start, hour = history.start_seconds, 3_600.0
    failure, onset = history.failure, history.onset_seconds
    outcome = None
    if failure is not None:
        outcome = Outcome(
            failure.time_seconds / hour, failure.gpu, Cause(failure.cause), failure.kind
        )
    return Episode(
        node=history.node,
        kind=history.scenario,
        lookalike=history.lookalike,
        channels=history.channels,
        readings=readings(history.values, history.channels),
        hours=(start + np.arange(steps, dtype=np.float64) * history.step_seconds) / hour,
        outcome=outcome,
        onset_hours=None if onset is None else onset / hour,
        sudden=story(history.scenario).pace is Pace.SUDDEN,
    )


def episodes(planned: Sequence[Planned], *, step_seconds: int) -> Iterator[Episode]:
    """Simulate and yield the planned records in order."""
    for steps, group in groupby(planned, key=lambda one: one.steps):
        recordings = [one.recording for one in group]
        for first in range(0, len(recordings), NODES_AT_ONCE):
            batch = recordings[first : first + NODES_AT_ONCE]
            for history in record_all(batch, steps=steps, step_seconds=step_seconds):
                yield episode(history)


def masked(whole: Episode, profile: str, rng: np.random.Generator) -> Episode:
    """Return the episode as a site with this much visibility would have seen it."""
    hidden = [i for i, name in enumerate(whole.channels) if _hides(profile, name, rng)]
    seen = whole.readings.copy()
    seen[:, :, hidden] = np.nan
    return replace(whole, readings=seen)


def draw_profile(rng: np.random.Generator) -> str:
    """Draw how much is visible."""
    return str(rng.choice(list(PROFILES), p=list(PROFILES.values())))


def _hides(profile: str, name: str, rng: np.random.Generator) -> bool:
    if name in REQUIRED:
        return False
    if profile == "stock":
        return name in UNLISTED_IN_STOCK
    if profile == "no-bmc":
        return BY_NAME[name].origin is Origin.REDFISH
    return profile == "sparse" and bool(rng.random() < SPARSE_RATIO)
