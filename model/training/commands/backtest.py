"""What an artefact would have said of a site's own past."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from model import runtime, schema
from model.history import incidents as listing
from model.history.chunks import Chunks, Wanted
from model.history.files import put
from model.history.refused import TooLittle
from model.training.commands.bars import Bars, plain, progress
from model.training.fitting import base_rate
from model.training.judging import evaluate, table
from model.training.page import page
from model.training.rivals import crossed
from model.training.site.fleet import reach, told
from model.training.site.past import SiteStock, asked_channels, survey
from simulator.instruments.shown import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from model.artefact import ArtefactInfo
    from model.history.arguments import Asked
    from model.history.question import Found
    from model.history.reader import Reader
    from model.history.timeline import Timeline
    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode
    from model.training.judging.report import Report

SEED = 7
"""Of the isolation forest's draws."""


class Past(NamedTuple):
    """What was read of a site: its nodes, what their past holds, and that as episodes."""

    nodes: frozenset[str]
    timelines: list[Timeline]
    stock: SiteStock


class History(NamedTuple):
    """What is asked of whom, the nodes that were found there, and where their past is kept."""

    asked: Asked
    reader: Reader
    found: Sequence[Found]
    folder: Path


def run(path: Path, history: History, *, html: Path | None, json: Path | None) -> None:
    """Read, replay, print the table, and write it where asked; raises `Refused`."""
    asked = history.asked
    console = plain()
    predictor = runtime.load(path)
    with progress(console) as bars:
        tell = Bars(bars)
        # Rivals read all that the bundled artefact does; what this one reads comes first.
        names = tuple(dict.fromkeys((*predictor.info.names, *SHOWN)))
        past = _read(history, names, tell)
        judged = judge(predictor, past, f"{_days(asked):g} days", tell)
    for line in listing.unknown(asked.rows, past.nodes):
        console.print(f"warning: {asked.origin}: {line}")
    console.print(table.render(judged))
    console.print(f"\nThe field is this site itself.\n{told(past.timelines)}")
    console.print(reach(past.timelines))
    console.print(f"{signs(past.timelines)}\n{rates(predictor.info, judged)}")
    told_of = f"{path.name}, version {predictor.info.version}, {predictor.info.provenance}"
    if html is not None:
        put(html, page.render(judged, told_of).encode())
    if json is not None:
        put(json, msgspec.json.format(msgspec.json.encode(judged)) + b"\n")


def _read(history: History, names: Sequence[str], tell: Bars) -> Past:
    asked, reader, found, folder = history
    wanted = Wanted(asked.question, asked_channels(names), asked.start, asked.end, asked.server)
    chunks = Chunks(folder, wanted, reader)
    timelines = []
    for done, node in enumerate(found, 1):
        chunks.fetch(node.name, node.addresses, lambda *_: None)
        timelines.append(survey(chunks, node.name, asked.rows))
        tell("reading history", done, len(found), node.name)
    stock = SiteStock(chunks, timelines, names, (asked.start, asked.end))
    if not stock.records:
        raise TooLittle(f"nothing to judge: {told(timelines)}")
    return Past(frozenset(node.name for node in found), timelines, stock)


def judge(predictor: Predictor, past: Past, span: str, tell: Bars) -> Report:
    """Replay the artefact over a site's past beside the rivals that it allows."""

    def watched(stage: str) -> Iterator[Episode]:
        for done, episode in enumerate(past.stock.episodes(quiet=False), 1):
            yield episode
            tell(stage, done, past.stock.records, episode.node)

    struck = [one.node for one in past.timelines if one.failures]
    beside = crossed.ready(watched("rivals"), crossed.folds(past.stock.nodes, struck), SEED)
    data = f"{len(past.stock.nodes)} nodes of a site, {span}"
    judged = evaluate.evaluate(
        predictor, watched("replaying"), data, beside.rivals, as_they_are=True
    )
    return msgspec.structs.replace(judged, limits=beside.limits)


def rates(info: ArtefactInfo, judged: Report) -> str:
    """Say what rate of failures the artefact takes for usual, and what this site's is."""
    seen = base_rate.Seen(judged.failures, judged.node_weeks)
    site = sum(base_rate.learned(seen).values())
    return (
        f"failures per node-week that the model takes for usual: {evaluate.usual_rate(info):.3g}; "
        f"by {base_rate.origin_of(seen)}: {site:.3g}, which `forewarn-model rebase` sets"
    )


def signs(timelines: list[Timeline]) -> str:
    """Say by what the failures were known."""
    counts: dict[str, int] = {}
    for one in timelines:
        for failure in one.failures:
            counts[failure.sign] = counts.get(failure.sign, 0) + 1
    shown = ", ".join(f"{sign} {count}" for sign, count in sorted(counts.items()))
    return f"failures by their first sign: {shown or 'none'}"


def _days(asked: Asked) -> float:
    return (asked.end - asked.start) // schema.STEP_SECONDS / 1_440
