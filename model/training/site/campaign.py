"""One training of a site: what is read, what is learned from it, and what is already done.

Every result is a file that appears in one instant, and a mark beside it that
says from what it was made.  A run may be killed at any point and started
again: it goes on after the last mark, and comes to the same models.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from model.history import incidents as listing
from model.history import plan as planning
from model.history.chunks import Chunks, Wanted
from model.history.refused import PlanRefused
from model.training.artefacts import export
from model.training.episodes.plan import Split
from model.training.fitting.pipeline import reproducible
from model.training.judging import evaluate
from model.training.site.past import SHARES, SiteStock, asked_channels, bounds, survey, trainable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from model.history.incidents import Incident
    from model.history.plan import Plan, PlannedNode
    from model.history.reader import Reader
    from model.history.timeline import Timeline
    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.episodes.stock import Stock
    from model.training.judging.report import Report

    Progress = Callable[[str, int, int, str], None]

FLEET = "fleet"


class Outcome(StrEnum):
    """What came of one training."""

    TRAINED = "trained"
    KEPT = "kept"
    """The node uses the fleet's model."""


class Mark(msgspec.Struct, frozen=True):
    """Written once something is done: from what it was made, and how it ended.

    `why` the fleet's model was kept, or which channels of the node's own past stood still.
    """

    key: str
    outcome: Outcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class Folders:
    """`work` holds what was read and what is done, `models` what exporters read."""

    work: Path
    models: Path

    def model(self, name: str) -> Path:
        """Return the artefact of a node, or of the fleet: as the exporter looks for it."""
        return self.models / f"{name}.onnx"

    def read(self, name: str) -> Mark | None:
        """Return the mark of a node, or of the fleet; None where there is none to rely on."""
        try:
            return msgspec.json.decode(self._mark(name).read_bytes(), type=Mark)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def write(self, name: str, mark: Mark) -> None:
        """Write a mark in one instant."""
        export.write(self._mark(name), msgspec.json.encode(mark))

    def _mark(self, name: str) -> Path:
        return self.work / "done" / f"{name}.json"


class Campaign:
    """What `plan` asks for; `progress` hears of stages, `reader` asks the server."""

    def __init__(self, plan: Plan, folders: Folders, reader: Reader, progress: Progress) -> None:
        self.plan = plan
        self.folders = folders
        self.progress = progress
        self._reader = reader
        self._incidents = incidents_of(plan, folders.work)
        reproducible()

    def chunks(self, names: Sequence[str]) -> Chunks:
        """Return the files that hold the channels `names`, read or not."""
        plan = self.plan
        channels = asked_channels(names)
        wanted = Wanted(plan.question, channels, plan.start, plan.end, plan.server)
        return Chunks(self.folders.work / "history", wanted, self._reader)

    @property
    def struck(self) -> frozenset[str]:
        """The nodes of the plan that the site's list of incidents names."""
        return frozenset(row.node for row in self._incidents) & {n.name for n in self.plan.nodes}

    def survey(self, chunks: Chunks, node: PlannedNode) -> Timeline:
        """Read what is missing of a node's past, and say what it holds."""

        def tell(done: int, total: int) -> None:
            self.progress("reading history", done, total, node.name)

        chunks.fetch(node.name, node.addresses, tell)
        return survey(chunks, node.name, self._incidents)

    def stocks(
        self, chunks: Chunks, timelines: Sequence[Timeline], names: Sequence[str]
    ) -> dict[Split, SiteStock]:
        """Split what is known by time; what judges lives through everything, as nodes do."""
        placed = trainable(timelines)
        return {
            split: SiteStock(
                chunks,
                timelines if split is Split.TEST else placed,
                names,
                bounds(split, self.plan.start, self.plan.end),
                settled=split is not Split.TEST,
            )
            for split in SHARES
        }

    def judge(self, predictor: Predictor, stock: Stock, data: str) -> Report:
        """Replay an artefact over a stock; `data` says in words what that is."""

        def watched() -> Iterator[Episode]:
            for done, episode in enumerate(stock.episodes(quiet=False), 1):
                yield episode
                self.progress("replaying", done, stock.records, episode.node)

        return evaluate.evaluate(predictor, watched(), data)


def incidents_of(plan: Plan, work: Path) -> list[Incident]:
    """Return the list of incidents that the plan was made with; raises `PlanRefused`."""
    if not plan.incidents:
        return []
    path = work / planning.INCIDENTS_NAME
    content = path.read_bytes()
    if planning.digest(content) != plan.incidents:
        raise PlanRefused(f"{path}: changed since the plan was made; plan anew")
    return listing.parse(content, str(path))
