"""A node's own model: the fleet's, tuned on the node's past, where that is long enough."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from model import runtime, schema
from model.artefact import Training
from model.training.artefacts import export, sight, weights
from model.training.artefacts.finish import finish, windows_of
from model.training.episodes.plan import Split
from model.training.fitting import base_rate, finetune
from model.training.fitting.finetune import Kept, Tuning, Windows
from model.training.fitting.pipeline import Origin, Trained
from model.training.site.campaign import FLEET, Mark, Outcome
from model.training.site.fleet import left_out, size_of

if TYPE_CHECKING:
    from torch import Tensor

    from model.artefact import ArtefactInfo
    from model.history.plan import PlannedNode
    from model.history.timeline import Timeline
    from model.training.site.campaign import Campaign
    from model.training.site.past import SiteStock

TUNINGS = {"bundled": Tuning(), "tiny": Tuning(windows=64, iterations=6, batch=16, least_hours=8.0)}
GPUS_OF_A_WINDOW = 8
JUDGED_HOURS = 72.0
"""A node's model is judged on so much of its newest time: a replay takes every step."""


def train(campaign: Campaign, node: PlannedNode) -> Mark:
    """Give a node its own model, or say why it keeps the fleet's; what is done stays done."""
    folders = campaign.folders
    fleet = runtime.load(folders.model(FLEET)).info
    key = f"{campaign.plan.digest}-{fleet.version}"
    path = folders.model(node.name)
    known = folders.read(node.name)
    done = known is not None and known.key == key
    if known and done and (known.outcome is Outcome.TRAINED) == path.exists():
        return known
    try:
        blob, still = _tuned(campaign, node, fleet)
        export.write(path, blob)
        mark = Mark(key, Outcome.TRAINED, still)
    except Kept as reason:
        path.unlink(missing_ok=True)  # an older one of its own would go before the fleet's
        mark = Mark(key, Outcome.KEPT, str(reason))
    folders.write(node.name, mark)
    return mark


def _tuned(campaign: Campaign, node: PlannedNode, about: ArtefactInfo) -> tuple[bytes, str]:
    """Return the node's artefact, and what stood still here that moves in the fleet."""
    fleet = weights.load(weights.beside(campaign.folders.model(FLEET)), about.version)
    tuning = TUNINGS[size_of(campaign)]
    seed = campaign.plan.seed * 1_000_003 + zlib.crc32(node.name.encode())
    chunks = campaign.chunks(fleet.names)
    timeline = campaign.survey(chunks, node)
    stocks = campaign.stocks(chunks, [timeline], fleet.names)
    _enough(stocks, timeline, tuning)
    moments = tuning.windows // GPUS_OF_A_WINDOW
    fit = _sample(stocks[Split.FIT], moments, seed)
    held = _sample(stocks[Split.HELD], max(8, moments // 4), seed + 1)
    for windows in (fit, held):
        sight.hide(windows, fleet.scaling)
    graph = finetune.tune(fleet, Windows(fit, held), tuning, seed)
    said = about.base_rate.origin if about.base_rate is not None else base_rate.FIELD
    origin = Origin("node", node.name, said)
    trained = Trained(graph, _training(stocks[Split.FIT], seed, about.training.gpus))
    usual = sight.still(fleet.scaling)
    still = [name for name in sight.resting(fit, fleet.names) if name not in usual]
    return _written(campaign, origin, trained, stocks), ", ".join(still)


def _written(
    campaign: Campaign, origin: Origin, trained: Trained, stocks: dict[Split, SiteStock]
) -> bytes:
    newest = stocks[Split.TEST] if stocks[Split.TEST].records else stocks[Split.HELD]
    judged = newest.newest(JUDGED_HOURS)
    hours = judged.steps * schema.STEP_SECONDS / 3_600
    data = f"the newest {hours:.0f} h of {origin.node}"
    made = finish(
        trained,
        lambda predictor: campaign.judge(predictor, judged, data),
        windows_of(next(judged.episodes(quiet=False))),
        origin,
    )
    return made.blob


def _enough(stocks: dict[Split, SiteStock], timeline: Timeline, tuning: Tuning) -> None:
    hours = stocks[Split.FIT].quiet_steps * schema.STEP_SECONDS / 3_600
    out = left_out([timeline])
    if hours < tuning.least_hours:
        raise Kept(
            f"{hours:.1f} h of quiet time to train on, expected at least "
            f"{tuning.least_hours:.0f}; left out: {out}"
        )
    if not stocks[Split.HELD].quiet_records:
        raise Kept(f"no quiet time after it to judge a tuned model by; left out: {out}")


def _training(stock: SiteStock, seed: int, gpus: tuple[int, ...]) -> Training:
    rows = stock.steps * GPUS_OF_A_WINDOW
    return Training(*stock.span, rows, stock.records, seed, gpus=gpus)


def _sample(stock: SiteStock, moments: int, seed: int) -> Tensor:
    return finetune.sample(stock.episodes(quiet=True), stock.quiet_steps, moments, seed)
