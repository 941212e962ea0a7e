"""Exponential averages of the evidence as explicit state: how an hour sees a three-day drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.schema import STEP_SECONDS
from model.training.network.evidence import PRESENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.network.evidence import Evidence

HALF_LIVES_HOURS = (1.0, 6.0, 24.0, 72.0)

REMEMBERED = (
    "residual:gpu_temperature_celsius",
    "residual:gpu_memory_temperature_celsius",
    "residual:gpu_temperature_margin_celsius",
    "residual:gpu_power_watts",
    "residual:gpu_sm_clock_hertz",
    "level:node_inlet_temperature_celsius",
    "level:node_fan_speed_rpm",
    "level:node_board_temperature_celsius",
    "level:node_coolant_supply_temperature_celsius",
    "level:node_coolant_return_temperature_celsius",
    "level:node_coolant_flow_liters_per_minute",
    "level:node_coolant_supply_pressure_pascals",
    "level:node_coolant_return_pressure_pascals",
    "level:node_humidity_ratio",
    "level:node_leak_detector_margin_volts",
    "level:node_bus_voltage_volts",
    "level:node_power_supply_efficiency_ratio",
    "level:node_power_supply_temperature_celsius",
    "level:node_dcgm_scrape_seconds",
    "residual:node_power_watts",
    "residual:node_coolant_flow_liters_per_minute",
    "residual:node_coolant_return_temperature_celsius",
    "peer:gpu_temperature_celsius",
    "peer:gpu_memory_temperature_celsius",
    "peer:gpu_temperature_margin_celsius",
    "peer:gpu_power_watts",
    "peer:gpu_sm_clock_hertz",
    "resistance:gpu_temperature_celsius",
    "resistance:gpu_memory_temperature_celsius",
    "peer-resistance:gpu_temperature_celsius",
    "peer-resistance:gpu_memory_temperature_celsius",
    "recent:gpu_thermal_violation_seconds_total",
    "recent:gpu_memory_correctable_errors_total",
    "recent:gpu_memory_uncorrectable_errors_total",
    "recent:gpu_remapped_rows_correctable_total",
    "recent:gpu_remapped_rows_uncorrectable_total",
    "recent:gpu_pcie_replays_total",
    "recent:gpu_nvlink_crc_errors_total",
    "recent:gpu_nvlink_replay_errors_total",
    "recent:gpu_nvlink_recovery_errors_total",
    "recent:node_dcgm_failed_reads_total",
    "flag:gpu_thermal_slowdown_active",
    "flag:gpu_power_brake_active",
    "flag:gpu_xid_code",
    "critic",
    "score",
    "lost",
    "blank",
    *PRESENCES,
)
"""The features that are remembered; each has one average per half-life."""

DRIFTING = {
    **dict.fromkeys(
        (
            "peer:gpu_temperature_celsius",
            "peer:gpu_memory_temperature_celsius",
            "peer:gpu_power_watts",
            "peer:gpu_sm_clock_hertz",
            "level:node_dcgm_scrape_seconds",
        ),
        "alive",
    ),
    **dict.fromkeys((name for name in REMEMBERED if "resistance:" in name), "loaded"),
    **dict.fromkeys(
        (name for name in REMEMBERED if name.startswith("level:node_") and "dcgm" not in name),
        "watched",
    ),
}
"""Features that are compared with their own past, and the presence that says how much there is."""

DRIFT_HOURS = ((1.0, 24.0), (6.0, 72.0))
"""A short memory less a long one."""

LEAST_PRESENCE = 0.02
"""Share of the long memory that must be filled: half an hour for a day, two hours for three."""


class Memory(nn.Module):
    """State [gpu, k] in, state out, exactly one grid step later.

    The averages start at 0 and are not corrected for their youth: a cold node
    is taken to have had a quiet past, so an hour of evidence weighs as an hour.
    What is not observed is held, neither decayed nor refreshed.
    """

    source: Tensor
    decay: Tensor
    short: Tensor
    long: Tensor
    short_presence: Tensor
    long_presence: Tensor

    def __init__(self, features: Sequence[str], step_seconds: int = STEP_SECONDS) -> None:
        super().__init__()
        chosen = [features.index(name) for name in REMEMBERED if name in features]
        repeated = torch.tensor(chosen).repeat(len(HALF_LIVES_HOURS))
        half_lives = torch.tensor(HALF_LIVES_HOURS).repeat_interleave(len(chosen)) * 3600.0
        self.register_buffer("source", repeated)
        self.register_buffer("decay", torch.exp2(-step_seconds / half_lives))
        self.width = len(repeated)
        held = tuple(
            f"{hours:g}h {features[index]}" for hours in HALF_LIVES_HOURS for index in chosen
        )
        drifts = [
            (short, long, name, presence)
            for short, long in DRIFT_HOURS
            for name, presence in DRIFTING.items()
            if name in features
        ]
        for side, hours in (("short", 0), ("long", 1)):
            places = [held.index(f"{one[hours]:g}h {one[2]}") for one in drifts]
            shares = [held.index(f"{one[hours]:g}h {one[3]}") for one in drifts]
            self.register_buffer(side, torch.tensor(places))
            self.register_buffer(f"{side}_presence", torch.tensor(shares))
        self.features = held + tuple(
            f"drift {short:g}h-{long:g}h {name}" for short, long, name, _ in drifts
        )

    def forward(self, evidence: Evidence, state: Tensor, steps: float = 1.0) -> Tensor:
        """Advance by `steps` grid steps over which the evidence is taken as constant.

        The graph advances by one; training strides over its histories.
        """
        keep = self.decay if steps == 1.0 else self.decay**steps
        news = evidence.values.index_select(-1, self.source)
        known = evidence.known.index_select(-1, self.source)
        return torch.where(known > 0, keep * state + (1.0 - keep) * news, state)

    def read(self, state: Tensor) -> Tensor:
        """Return what the hazards are told of `state` [..., k]: all of it, and the drifts."""
        filled = state.index_select(-1, self.long_presence)
        lately = state.index_select(-1, self.short) / state.index_select(
            -1, self.short_presence
        ).clamp(min=LEAST_PRESENCE)
        before = state.index_select(-1, self.long) / filled.clamp(min=LEAST_PRESENCE)
        drift = torch.where(filled > LEAST_PRESENCE, lately - before, torch.zeros_like(filled))
        return torch.cat((state, drift), -1)
