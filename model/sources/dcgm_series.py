"""History of dcgm-exporter's own families in Prometheus, turned into our channels.

The same table and the same rules as for a page (`model.sources.dcgm`), over
many steps at once: copies of a MIG instance are folded to their GPU, links are
added up, sentinels are missing.  Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from model import schema
from model.sources import dcgm
from model.sources.dcgm_fields import (
    FREE,
    MARGIN,
    RESERVED,
    SHUTDOWN,
    SHUTDOWN_MARGIN,
    SLOWDOWN,
    TEMPERATURE,
    TOTAL,
    USED,
)
from model.sources.series import Cube, nothing, selector, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from model.sources.dcgm import Field
    from model.sources.series import Series, Steps

UUID_LABELS = ("UUID", "gpu_uuid", "uuid")
DRIVER_LABELS = ("DCGM_FI_DRIVER_VERSION", "driver_version")
INSTANCE = "GPU_I_ID"
KEPT = ("__name__", "gpu", *UUID_LABELS, INSTANCE, "nvlink", *DRIVER_LABELS)
"""What tells readings apart; pods, jobs and instances of the scrape come and go."""


@dataclass(frozen=True, slots=True)
class Told:
    """Channels, and what only the labels say: [step], 1 where driver or MIG layout changed."""

    cube: Cube
    changed: NDArray[np.bool_]


def query(names: Iterable[str], addresses: Sequence[Mapping[str, str]], step_seconds: float) -> str:
    """Return PromQL for the DCGM fields behind the channels `names`.

    `addresses` are sets of labels, each of which picks the same node; names are
    matched in whatever case, and with or without `_total`.
    """
    spelt = sorted({spelling for name in names for spelling in dcgm.spellings(name)})
    family = f'__name__=~"(?i:{"|".join(spelt)})(?i:_total)?"'
    chosen = (f"last_over_time({selector(family, one, step_seconds)})" for one in addresses)
    return f"max by ({', '.join(KEPT)}) ({' or '.join(chosen)})"


def cube(series: Iterable[Series], over: Steps, names: Sequence[str]) -> Told:
    """Return the channels `names` of all GPUs and of the node."""
    gpus: dict[str, _Fold] = {}
    node = _Fold()
    for one in series:
        fields = dcgm.fields(one.metric.get("__name__", ""))
        uuid = next((one.metric[name] for name in UUID_LABELS if one.metric.get(name)), "")
        if any(row.channel in dcgm.NODE_CHANNELS for row in fields):
            node.take(one, fields, over)
        elif fields and uuid and not uuid.startswith("<<<"):
            gpus.setdefault(uuid, _Fold(one.metric.get("gpu", ""))).take(one, fields, over)
    index = {uuid: fold.index for uuid, fold in gpus.items()}
    conflicts = node.conflicts + sum(fold.conflicts for fold in gpus.values())
    out = Cube({}, node.rows(over, names), index, conflicts)
    for uuid, fold in gpus.items():
        out.gpu[uuid] = fold.rows(over, names)
    return Told(out, _changes(gpus.values(), over))


@dataclass
class _Fold:
    """What the series of one GPU, or of the node, have said so far, by row of the table."""

    index: str = ""
    best: dict[Field, NDArray[np.float64]] = field(default_factory=dict)
    links: dict[tuple[Field, str], NDArray[np.float64]] = field(default_factory=dict)
    layouts: dict[tuple[str, str], NDArray[np.bool_]] = field(default_factory=dict)
    """By driver version and MIG instance: [step], whether anything was said under it."""
    conflicts: int = 0

    def take(self, one: Series, fields: Sequence[Field], over: Steps) -> None:
        said, twice = values(one, over)
        self.conflicts += twice
        for row in fields:
            found = _converted(row, said)
            if row.per_link:
                place = (row, one.metric.get("nvlink", ""))
                self.links[place] = np.fmax(found, self.links.get(place, found))
            else:
                pick = np.fmin if row.lower_is_worse else np.fmax
                self.best[row] = pick(found, self.best.get(row, found))
        driver = next((one.metric[name] for name in DRIVER_LABELS if one.metric.get(name)), "")
        layout = (driver, one.metric.get(INSTANCE, ""))
        heard = self.layouts.setdefault(layout, np.zeros(over.count, dtype=bool))
        heard |= ~np.isnan(said)

    def rows(self, over: Steps, names: Sequence[str]) -> NDArray[np.float64]:
        """Return [step, channel]."""
        whole = self._channels()
        out = nothing(over, names)
        for column, name in enumerate(names):
            if name in whole:
                out[:, column] = whole[name]
        return out

    def _channels(self) -> dict[str, NDArray[np.float64]]:
        sums: dict[Field, NDArray[np.float64]] = {}
        for (row, _), found in self.links.items():
            # A sum over some of the links is no sum: one that is missing makes it missing.
            sums[row] = sums[row] + found if row in sums else found.copy()
        whole: dict[str, NDArray[np.float64]] = {}
        for row in dcgm.FIELDS:
            one = self.best.get(row, sums.get(row))
            if one is not None:
                known = whole.get(row.channel)
                whole[row.channel] = one if known is None else np.where(np.isnan(known), one, known)
        self._derive(whole)
        _contradict(whole)
        return whole

    def _derive(self, whole: dict[str, NDArray[np.float64]]) -> None:
        """Fill in, where no field gives it, what others make (`dcgm.derived`)."""
        for channel, constant in ((MARGIN, SLOWDOWN), (SHUTDOWN_MARGIN, SHUTDOWN)):
            if constant in whole and TEMPERATURE in whole:
                _fill(whole, channel, whole[constant] - whole[TEMPERATURE])
        divided = any(instance for _, instance in self.layouts)
        if {USED, FREE, RESERVED} <= whole.keys() and not divided:
            _fill(whole, TOTAL, whole[USED] + whole[FREE] + whole[RESERVED])


def _fill(whole: dict[str, NDArray[np.float64]], channel: str, made: NDArray[np.float64]) -> None:
    row = schema.BY_NAME[channel]
    possible = np.where((made >= row.low) & (made <= row.high), made, np.nan)
    known = whole.get(channel)
    whole[channel] = possible if known is None else np.where(np.isnan(known), possible, known)


def _contradict(whole: dict[str, NDArray[np.float64]]) -> None:
    """Take out profiling that utilisation proves wrong (`dcgm.contradicted`)."""
    if dcgm.UTILISATION not in whole or dcgm.ENGINE not in whole:
        return
    wrong = (whole[dcgm.UTILISATION] >= dcgm.BUSY_RATIO) & (whole[dcgm.ENGINE] == 0.0)
    for name in dcgm.PROFILED & whole.keys():
        whole[name] = np.where(wrong, np.nan, whole[name])


def _converted(row: Field, said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert each distinct number once."""
    distinct, place = np.unique(said, return_inverse=True)
    turned = [dcgm.convert(row, float(value)) for value in distinct]
    numbers = [np.nan if isinstance(value, dcgm.Unusable) else value for value in turned]
    return np.array(numbers, dtype=np.float64)[place]


def _changes(folds: Iterable[_Fold], over: Steps) -> NDArray[np.bool_]:
    """Mark the steps at which some GPU is first heard under another driver or MIG layout."""
    changed = unchanged(over)
    for fold in folds:
        under = np.array(list(fold.layouts.values()))
        heard = np.flatnonzero(under.any(axis=0))
        differs = (np.diff(under[:, heard].astype(np.int8), axis=1) != 0).any(axis=0)
        changed[heard[1:][differs]] = True
    return changed


def unchanged(over: Steps) -> NDArray[np.bool_]:
    """Return [step] without a change."""
    return np.zeros(over.count, dtype=bool)
