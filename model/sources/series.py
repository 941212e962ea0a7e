"""The page's own families in Prometheus: how they are asked for, and what an answer holds.

Shared by the exporter, which lives through its past, and by training, which
learns from it.  Pure.  Counters stay raw: increments are made of them in one
place, and a reset while nobody watched is a reset still.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """

    gpu: dict[str, NDArray[np.float64]]
    node: NDArray[np.float64]
    index: dict[str, str]


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
        np.fmax(into, _possible(values(one, over), channel), out=into)
    return out


def nothing(over: Steps, names: Sequence[str]) -> NDArray[np.float64]:
    """Return [step, channel] of nothing."""
    return np.full((over.count, len(names)), np.nan)


def values(one: Series, over: Steps) -> NDArray[np.float64]:
    """Return [step], NaN where the series says nothing or no number."""
    out = np.full(over.count, np.nan)
    for wall, text in one.values:
        step = round((wall - over.start) / over.seconds)
        if 0 <= step < over.count:
            out[step] = _number(text)
    return out


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
