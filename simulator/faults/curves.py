"""Shapes in time that several stories share; all are functions of time alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Floats
    from simulator.scenario import Scenario


def after(progress: Floats, start: float, end: float = 1.0) -> Floats:
    """Return how far `progress` has come from `start` to `end`, 0 before and 1 after."""
    return np.asarray(np.clip((progress - start) / (end - start), 0.0, 1.0))


def damage(scenario: Scenario, times: Floats) -> Floats:
    """Return the damage, 0 at the onset and the scenario's severity at the end."""
    return np.asarray(scenario.severity * scenario.progress(times) ** scenario.shape)


def hunting(scenario: Scenario, times: Floats, period_seconds: float) -> Floats:
    """Return an uneven swing between -1 and 1, as a controller that cannot hold its point."""
    phases = 2.0 * np.pi * scenario.dice("hunting", 3)
    ratios = (1.0, 2.7, 6.1)
    waves = [
        weight * np.sin(2.0 * np.pi * ratio * times / period_seconds + phase)
        for weight, ratio, phase in zip((0.55, 0.30, 0.15), ratios, phases, strict=True)
    ]
    return np.asarray(sum(waves))


def bursts(scenario: Scenario, times: Floats, period_seconds: float) -> Floats:
    """Return the strength, 0 to 1, of something that comes and goes: mostly small."""
    swing = 0.5 + 0.5 * hunting(scenario, times, period_seconds)
    return np.asarray(np.clip(swing, 0.0, 1.0) ** 3)


def run_dry(progress: Floats, start: float) -> Floats:
    """Return the share of flow that is left when a pump stops at `start`: 0.03 at the end."""
    return np.asarray(1.0 - 0.97 * after(progress, start))
