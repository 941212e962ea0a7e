"""What a training run learns from, split by split: simulated, of a site, or both."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from model.training.episodes.dataset import episodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from model.schema import Cause
    from model.training.episodes.dataset import Episode
    from model.training.episodes.plan import Planned


class Stock(Protocol):
    """Episodes of one split, yielded in the same order each time they are asked for.

    Steps are grid steps of a node.  `span` is the wall-clock seconds of the
    first and the last, (0, seconds) for simulated time.
    """

    @property
    def records(self) -> int:
        """How many episodes."""

    @property
    def quiet_records(self) -> int:
        """How many of them end without a failure."""

    @property
    def steps(self) -> int:
        """Steps of all."""

    @property
    def quiet_steps(self) -> int:
        """Steps of those that end without a failure."""

    @property
    def failures(self) -> Mapping[Cause, int]:
        """Episodes that end with a failure, by its cause."""

    @property
    def span(self) -> tuple[float, float]:
        """First and last second."""

    def episodes(self, *, quiet: bool) -> Iterator[Episode]:
        """Yield all, or only those without a failure."""


class Simulated:
    """What the simulator tells."""

    def __init__(self, planned: Sequence[Planned], step_seconds: int) -> None:
        self._planned = planned
        self._step_seconds = step_seconds
        self._quiet = [one for one in planned if _cause(one) is None]
        self.records, self.quiet_records = len(planned), len(self._quiet)
        self.steps = sum(one.steps for one in planned)
        self.quiet_steps = sum(one.steps for one in self._quiet)
        causes = Counter(cause for one in planned if (cause := _cause(one)) is not None)
        self.failures: Mapping[Cause, int] = dict(sorted(causes.items()))

    @property
    def span(self) -> tuple[float, float]:
        """Simulated time starts at 0."""
        return 0.0, float(max(one.steps for one in self._planned) * self._step_seconds)

    def episodes(self, *, quiet: bool) -> Iterator[Episode]:
        """Simulate, a few nodes at a time."""
        chosen = self._quiet if quiet else self._planned
        return episodes(chosen, step_seconds=self._step_seconds)


class Joined:
    """Several stocks, one after the other; its span is that of the last, which is the site's."""

    def __init__(self, *stocks: Stock) -> None:
        self._stocks = stocks
        self.records = sum(one.records for one in stocks)
        self.quiet_records = sum(one.quiet_records for one in stocks)
        self.steps = sum(one.steps for one in stocks)
        self.quiet_steps = sum(one.quiet_steps for one in stocks)
        causes: Counter[Cause] = Counter()
        for one in stocks:
            causes.update(one.failures)
        self.failures: Mapping[Cause, int] = dict(sorted(causes.items()))
        self.span = stocks[-1].span

    def episodes(self, *, quiet: bool) -> Iterator[Episode]:
        """Yield from one after the other."""
        return chain.from_iterable(one.episodes(quiet=quiet) for one in self._stocks)


def _cause(planned: Planned) -> Cause | None:
    from simulator.faults import story

    return story(planned.kind).cause
