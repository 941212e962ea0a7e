"""Coolant loops: which one goes to the racks, what physics makes of it, and what differs.

Equipment reports differences with either sign, and heat that does not follow
from its own flow and temperatures.  So differences and heat are computed here,
and what was reported is only compared with that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model.sources import facility as spell
from model.sources.facility import COOLANT, WATER, Coolant, Equipment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exporter.facility.items import Loop


_LIQUID = frozenset({Equipment.CDU, Equipment.IMMERSION_UNIT})


class Physics(NamedTuple):
    """One loop as computed: temperature rise in K, pressure drop in Pa, heat in W."""

    rise: float | None
    drop: float | None
    heat: float | None


def names(loops: Sequence[Loop], kind: Equipment, dead: Iterable[str]) -> dict[str, str]:
    """Return part → `coolant_` or `water_`; `dead` loops never read anything but 0 or nothing.

    A unit that gives its heat to air has one loop that lives, and some call it
    the primary one: it is the loop to the racks all the same.
    """
    without = set(dead)
    living = [loop for loop in loops if loop.part not in without]
    to_air = kind in _LIQUID and bool(living) and all(loop.primary for loop in living)
    return {
        loop.part: WATER if loop.primary and not (to_air and loop in living) else COOLANT
        for loop in loops
    }


def compute(known: Mapping[str, float], coolant: Coolant) -> Physics:
    """Return what follows from the readings of one loop, named by the loop's own names.

    The rise is return less supply; the drop has no sign, since equipment differs
    in which side it calls supply.
    """
    supply, back = known.get(spell.SUPPLY), known.get(spell.RETURN)
    before, after = known.get(spell.SUPPLY_PRESSURE), known.get(spell.RETURN_PRESSURE)
    flow = known.get(spell.FLOW)
    rise = None if supply is None or back is None else back - supply
    drop = None if before is None or after is None else abs(before - after)
    heat = None if flow is None or rise is None else abs(spell.heat_watts(flow, rise, coolant))
    return Physics(rise, drop, heat)


def residuals(loop: Loop, physics: Physics) -> dict[str, float]:
    """Return reported less computed; heat over the larger of both, 0 where they agree."""
    found: dict[str, float] = {}
    if loop.rise is not None and physics.rise is not None:
        found[spell.RISE_RESIDUAL] = abs(loop.rise) - abs(physics.rise)
    if loop.heat is not None and physics.heat is not None:
        larger = max(abs(loop.heat), physics.heat)
        found[spell.HEAT_RESIDUAL] = (abs(loop.heat) - physics.heat) / larger if larger else 0.0
    return found


def worst(found: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return of each residual the one that is furthest from 0."""
    kept: dict[str, float] = {}
    for residual in found:
        for name, value in residual.items():
            if abs(value) >= abs(kept.get(name, 0.0)):
                kept[name] = value
    return kept
