"""The page's own families in Prometheus: how they are asked for, and what an answer holds.

Shared by the exporter, which lives through its past, and by training, which
learns from it.  Pure.  Counters stay raw: increments are made of them in one
place, and a reset while nobody watched is a reset still.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from model import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

_BY_METRIC = {channel.metric: channel for channel in schema.ON_A_NODE}


class Series(Protocol):
    """One series of a matrix: labels, and values as text by wall-clock seconds."""

    @property
    def metric(self) -> Mapping[str, str]:
        """Labels, the name of the family included."""

    @property
    def values(self) -> Sequence[tuple[float, str]]:
        """Points in time, with what was said then."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Evaluation times: `count` of them from `start`, every `seconds` (wall-clock seconds)."""

    start: float
    seconds: float
    count: int


@dataclass(frozen=True, slots=True)
class Cube:
    """What was said, on a grid of steps; NaN where nothing was, or what is impossible.

    `gpu` by UUID and `node` are [step, channel], in the order of the names that
    were asked for; `index` is a GPU's number on its node, as text.
    `conflicts` counts samples that are missing because they were told again,
    for the same moment, with another value.
    """

    gpu: dict[str, NDArray[np.float64]]
    node: NDArray[np.float64]
    index: dict[str, str]
    conflicts: int = 0

    @property
    def empty(self) -> bool:
        """Whether nothing at all was said."""
        return not self.gpu and bool(np.isnan(self.node).all())


def query(names: Iterable[str], matchers: Mapping[str, str], step_seconds: float) -> str:
    """Return PromQL for the channels `names` of the node that `matchers` pick.

    `last_over_time` over one step, where a bare selector would carry the last
    value over a gap of minutes.  `max` folds what differs only in labels of the
    scrape: pods and instances come and go.
    """
    metrics = "|".join(schema.BY_NAME[name].metric for name in names)
    chosen = selector(f'__name__=~"{metrics}"', matchers, step_seconds)
    return f"max by (__name__, gpu, uuid) (last_over_time({chosen}))"


def selector(family: str, matchers: Mapping[str, str], range_seconds: float) -> str:
    """Return a range selector: a matcher of the family, others by equality, and a range."""
    more = [f"{label}={quoted(value)}" for label, value in matchers.items()]
    return f"{{{','.join([family, *more])}}}[{round(range_seconds * 1000)}ms]"


def cube(series: Iterable[Series], over: Steps, names: Sequence[str]) -> Cube:
    """Return the channels `names` of all GPUs and of the node; other families are left out."""
    column = {name: position for position, name in enumerate(names)}
    out = Cube({}, nothing(over, names), {})
    conflicts = 0
    for one in series:
        channel = _BY_METRIC.get(one.metric.get("__name__", ""))
        if channel is None or channel.name not in column:
            continue
        if channel.level is schema.Level.NODE:
            target = out.node
        elif uuid := one.metric.get("uuid", ""):
            out.index[uuid] = one.metric.get("gpu", "")
            target = out.gpu.setdefault(uuid, nothing(over, names))
        else:
            continue
        into = target[:, column[channel.name]]
        said, twice = values(one, over)
        conflicts += twice
        np.fmax(into, _possible(said, channel), out=into)
    return replace(out, conflicts=conflicts)


def nothing(over: Steps, names: Sequence[str]) -> NDArray[np.float64]:
    """Return [step, channel] of nothing."""
    return np.full((over.count, len(names)), np.nan)


def values(one: Series, over: Steps) -> tuple[NDArray[np.float64], int]:
    """Return [step], NaN where the series says nothing or no number, and how many conflicts.

    Samples may come in any order.  What is told twice for one moment counts
    once; where the two differ, neither is believed.
    """
    out = np.full(over.count, np.nan)
    walls = np.array([wall for wall, _ in one.values], dtype=np.float64)
    said = np.array([_number(text) for _, text in one.values], dtype=np.float64)
    conflicts = 0
    if (np.diff(walls) <= 0).any():
        walls, said, conflicts = _in_order(walls, said)
    steps = np.rint((walls - over.start) / over.seconds)
    inside = (steps >= 0) & (steps < over.count)
    out[steps[inside].astype(np.intp)] = said[inside]
    return out, conflicts


def _in_order(
    walls: NDArray[np.float64], said: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return one sample a moment, oldest first, NaN where two differ, and how many do."""
    order = np.argsort(walls, kind="stable")
    walls, said = walls[order], said[order]
    first = np.flatnonzero(np.diff(walls, prepend=-np.inf) > 0)
    same = np.repeat(said[first], np.diff(first, append=len(walls)))
    differs = ~((said == same) | (np.isnan(said) & np.isnan(same)))
    disputed = np.logical_or.reduceat(differs, first)
    return walls[first], np.where(disputed, np.nan, said[first]), int(disputed.sum())


def quoted(value: str) -> str:
    """Return `value` as a PromQL string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _possible(found: NDArray[np.float64], channel: schema.Channel) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where((found >= channel.low) & (found <= channel.high), found, np.nan)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
