"""Exponential averages of the evidence as explicit state: how an hour sees a three-day drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.schema import STEP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.training.evidence import Evidence

HALF_LIVES_HOURS = (1.0, 6.0, 24.0, 72.0)

REMEMBERED = (
    "residual:gpu_temperature_celsius",
    "residual:gpu_memory_temperature_celsius",
    "residual:gpu_temperature_margin_celsius",
    "residual:gpu_power_watts",
    "residual:gpu_sm_clock_hertz",
    "residual:node_inlet_temperature_celsius",
    "residual:node_power_watts",
    "residual:node_fan_speed_rpm",
    "residual:node_coolant_supply_temperature_celsius",
    "residual:node_coolant_return_temperature_celsius",
    "residual:node_coolant_flow_liters_per_minute",
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
    "flag:gpu_thermal_slowdown_active",
    "flag:gpu_power_brake_active",
    "flag:gpu_xid_code",
    "critic",
    "score",
    "lost",
)
"""The features that are remembered; each has one average per half-life."""


class Memory(nn.Module):
    """State [gpu, k] in, state out, exactly one grid step later.

    The averages start at 0 and are not corrected for their youth: a cold node
    is taken to have had a quiet past, so an hour of evidence weighs as an hour.
    What is not observed is held, neither decayed nor refreshed.
    """

    source: Tensor
    decay: Tensor

    def __init__(self, features: Sequence[str], step_seconds: int = STEP_SECONDS) -> None:
        super().__init__()
        chosen = [features.index(name) for name in REMEMBERED if name in features]
        repeated = torch.tensor(chosen).repeat(len(HALF_LIVES_HOURS))
        half_lives = torch.tensor(HALF_LIVES_HOURS).repeat_interleave(len(chosen)) * 3600.0
        self.register_buffer("source", repeated)
        self.register_buffer("decay", torch.exp2(-step_seconds / half_lives))
        self.width = len(repeated)
        self.features = tuple(
            f"{hours:g}h {features[index]}" for hours in HALF_LIVES_HOURS for index in chosen
        )

    def forward(self, evidence: Evidence, state: Tensor, steps: float = 1.0) -> Tensor:
        """Advance by `steps` grid steps over which the evidence is taken as constant.

        The graph advances by one; training strides over its histories.
        """
        keep = self.decay if steps == 1.0 else self.decay**steps
        news = evidence.values.index_select(-1, self.source)
        known = evidence.known.index_select(-1, self.source)
        return torch.where(known > 0, keep * state + (1.0 - keep) * news, state)
