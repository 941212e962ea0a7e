"""A site's past as training sees every history: episodes, split by time.

The oldest part trains, the next freezes constants and stops early, the newest
is only ever judged: a model is used on what comes after it.  What learns sees
no window of two regimes, and takes its scales from the later one where a day of
that is quiet (decision 0123).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from model.history import record
from model.history.failures import LABEL_CHANNELS
from model.history.timeline import LEAST_SECONDS, Stretch, timeline
from model.schema import ON_A_NODE, STEP_SECONDS, Cause
from model.training.episodes.dataset import Episode, readings
from model.training.episodes.labels import Outcome
from model.training.episodes.plan import Split
from model.training.network.hazard import GPU_CAUSES, NODE_CAUSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from model.history.chunks import Chunks
    from model.history.incidents import Incident
    from model.history.regimes import Regime
    from model.history.timeline import Timeline

HOUR = 3_600.0
SHARES = {Split.FIT: 0.65, Split.HELD: 0.15, Split.TEST: 0.20}
"""Of the time span, in this order."""
SETTLED_STEPS = 30
"""A GPU must have reported this often in a stretch to belong to it."""
STORY_HOURS = 72.0
"""When a real fault began is not known: the longest horizon before it is nobody's quiet time."""
REGIME_HOURS = 24.0
"""So much quiet time of a node since its last regime began, and what was before says no scale."""


def asked_channels(names: Sequence[str]) -> tuple[str, ...]:
    """Return the channels `names` and those that show failures, in schema order."""
    wanted = {*names, *LABEL_CHANNELS}
    return tuple(channel.name for channel in ON_A_NODE if channel.name in wanted)


def survey(chunks: Chunks, node: str, incidents: Sequence[Incident]) -> Timeline:
    """Return what a fetched node's past holds; few channels are looked at, so it takes little."""
    wanted = chunks.wanted
    names = [name for name in wanted.names if name in LABEL_CHANNELS]
    whole = record.assemble(chunks, node, names, wanted.start, wanted.end)
    return timeline(whole, [one for one in incidents if one.node == node])


def bounds(split: Split, start: float, end: float) -> tuple[float, float]:
    """Return the part of a time span that belongs to a split."""
    order = list(SHARES)
    before = sum(SHARES[one] for one in order[: order.index(split)])
    length = end - start
    return start + before * length, start + (before + SHARES[split]) * length


def clipped(stretch: Stretch, begin: float, end: float) -> Stretch | None:
    """Return the part of a stretch in a span, on the grid; None where too little is left.

    A failure behind the span is not known of in it, and the days before it are
    no quiet time either: they are left out.
    """
    first = -(-max(stretch.start, begin) // STEP_SECONDS) * STEP_SECONDS
    last = min(stretch.end, end)
    failure = stretch.failure
    if failure is not None and not first + LEAST_SECONDS <= failure.time < last:
        last = min(last, failure.time - STORY_HOURS * HOUR)
        failure = None
    last = last // STEP_SECONDS * STEP_SECONDS
    return Stretch(first, last, failure) if last - first >= LEAST_SECONDS else None


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of one node."""

    node: str
    stretch: Stretch


class SiteStock:
    """The stretches of one split as episodes of the channels `names`, read one by one.

    Of a node's regimes in the span, `settled` keeps the quiet time of the last
    where there is enough of it; failures are kept from all.
    """

    def __init__(
        self,
        chunks: Chunks,
        timelines: Sequence[Timeline],
        names: Sequence[str],
        span: tuple[float, float],
        *,
        settled: bool = False,
    ) -> None:
        self._chunks = chunks
        self._names = tuple(names)
        self._timelines = timelines
        self.parts = tuple(
            Part(one.node, cut)
            for one in timelines
            for cut in (_settled(one, span) if settled else _clipped(one, span))
        )
        self._quiet = tuple(part for part in self.parts if part.stretch.failure is None)
        self.records, self.quiet_records = len(self.parts), len(self._quiet)
        self.steps, self.quiet_steps = _steps(self.parts), _steps(self._quiet)
        causes = Counter(part.stretch.failure.cause for part in self.parts if part.stretch.failure)
        self.failures: Mapping[Cause, int] = dict(sorted(causes.items()))
        self.span = span

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes of which there is something."""
        return frozenset(part.node for part in self.parts)

    def newest(self, hours: float) -> SiteStock:
        """Return what lies in the last `hours` of which anything is known."""
        last = max(part.stretch.end for part in self.parts)
        span = (max(self.span[0], last - hours * HOUR), last)
        return SiteStock(self._chunks, self._timelines, self._names, span)

    def episodes(self, *, quiet: bool) -> Iterator[Episode]:
        """Yield the episodes in order of node and time."""
        for part in self._quiet if quiet else self.parts:
            whole = episode(self._chunks, part, self._names)
            if whole is not None:
                yield whole


def trainable(timelines: Sequence[Timeline]) -> list[Timeline]:
    """Leave out the last days before failures of which the model cannot be told where they struck.

    A memory error of a node without a GPU has no row to stand on; it is judged
    in a backtest all the same.  And cut where another regime began.
    """
    return [
        replace(one, stretches=tuple(_parted(map(_placed, one.stretches), one.regimes)))
        for one in timelines
    ]


def _parted(stretches: Iterable[Stretch], borders: Sequence[Regime]) -> Iterator[Stretch]:
    """Cut stretches at borders; the days before a failure are quiet time of neither regime."""
    for stretch in stretches:
        begin, failure = stretch.start, stretch.failure
        quiet = stretch.end if failure is None else failure.time - STORY_HOURS * HOUR
        for border in (one.start for one in borders):
            if not begin < border < (stretch.end if failure is None else failure.time):
                continue
            if min(border, quiet) > begin:
                yield Stretch(begin, min(border, quiet), None)
            begin = border
        yield Stretch(begin, stretch.end, failure)


def _clipped(one: Timeline, span: tuple[float, float]) -> list[Stretch]:
    cuts = (clipped(stretch, *span) for stretch in one.stretches)
    return [cut for cut in cuts if cut is not None]


def _settled(one: Timeline, span: tuple[float, float]) -> list[Stretch]:
    """Return the parts of a node in a span, without the quiet ones ahead of its last regime."""
    parts = _clipped(one, span)
    last = max((r.start for r in one.regimes if span[0] < r.start < span[1]), default=span[0])
    quiet = [part for part in parts if part.failure is None]
    since = sum(part.end - part.start for part in quiet if part.start >= last)
    if since < REGIME_HOURS * HOUR:
        return parts
    return [part for part in parts if part.failure is not None or part.start >= last]


def _placed(stretch: Stretch) -> Stretch:
    failure = stretch.failure
    if failure is None or failure.uuid or failure.cause in NODE_CAUSES:
        return stretch
    return Stretch(stretch.start, max(stretch.start, failure.time - STORY_HOURS * HOUR), None)


def episode(chunks: Chunks, part: Part, names: Sequence[str]) -> Episode | None:
    """Return one stretch as training sees it; None where no GPU reported long enough."""
    stretch = part.stretch
    whole = record.assemble(chunks, part.node, names, int(stretch.start), int(stretch.end))
    failure = stretch.failure
    struck = failure.uuid if failure is not None else ""
    rows = [
        row
        for row, uuid in enumerate(whole.uuids)
        if whole.present[row].sum() >= SETTLED_STEPS or uuid == struck
    ]
    if not rows:
        return None
    outcome = None
    known = [whole.uuids[row] for row in rows]
    if failure is not None:
        gpu = known.index(struck) if struck in known and failure.cause in GPU_CAUSES else None
        hours = (failure.time - whole.start) / HOUR
        outcome = Outcome(hours, gpu, failure.cause, str(failure.sign))
    steps = np.arange(whole.steps, dtype=np.float64)
    return Episode(
        node=part.node,
        kind=outcome.kind if outcome is not None else "quiet",
        lookalike=False,
        channels=tuple(names),
        readings=readings(
            whole.values if len(rows) == len(whole.uuids) else whole.values[rows], names
        ),
        hours=steps * STEP_SECONDS / HOUR,
        outcome=outcome,
        onset_hours=None,
    )


def _steps(parts: Sequence[Part]) -> int:
    return sum(int(one.stretch.end - one.stretch.start) // STEP_SECONDS for one in parts)
