"""The fleet's model of a site: from the past of some nodes, and simulated failures beside it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from model import runtime, schema
from model.history.plan import UNNAMED
from model.history.refused import TooLittle
from model.inspection import span
from model.training.artefacts import export, sight, weights
from model.training.artefacts.finish import finish, windows_of
from model.training.episodes.plan import Split
from model.training.episodes.stock import Joined
from model.training.fitting import base_rate
from model.training.fitting.pipeline import Origin, Run, simulated
from model.training.fitting.sizes import recipe
from model.training.site.campaign import FLEET, Mark, Outcome
from model.training.site.past import SiteStock, bounds
from simulator.instruments.shown import SHOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.history.chunks import Chunks
    from model.history.plan import Plan
    from model.history.timeline import Timeline
    from model.training.episodes.stock import Stock
    from model.training.fitting.pipeline import Recipe, Trained
    from model.training.judging.report import Report
    from model.training.network.scaling import Scaling
    from model.training.site.campaign import Campaign

NOTHING = "none"
"""Of simulated failures: a site's own are all that is learned from."""
LEAST_HOURS = {Split.FIT: 24.0, Split.HELD: 4.0}
"""Node hours of quiet time below which a model would be of nothing but noise."""
JUDGED_NODES = 16
SHOWN_REGIMES = 3


def is_done(campaign: Campaign) -> bool:
    """Tell whether the fleet's model of this plan lies there, whole."""
    mark = campaign.folders.read(FLEET)
    if mark is None or mark.key != campaign.plan.digest:
        return False
    path = campaign.folders.model(FLEET)
    try:
        weights.load(weights.beside(path), runtime.load(path).info.version)
    except (runtime.ModelRefused, weights.WeightsRefused, OSError):
        return False
    return True


class Fleet(NamedTuple):
    """What the model was worth, from how much past it was made, and what a site should know."""

    judged: Report
    told: str
    warnings: tuple[str, ...]


def train(campaign: Campaign) -> Fleet:
    """Train, judge and write the model and its weights; raises `TooLittle` and `fit.Diverged`."""
    plan = campaign.plan
    chunks = campaign.chunks(SHOWN)
    timelines = [campaign.survey(chunks, plan.node(name)) for name in plan.fleet]
    site = campaign.stocks(chunks, timelines, SHOWN)
    check(site, timelines)
    trained = Run(recipe_of(campaign), campaign.progress, _stocks(campaign, site)).train()
    seen = base_rate.count(timelines, site[Split.TEST].span[0], len(plan.nodes), campaign.struck)
    rates = base_rate.learned(seen)
    trained.graph.hazard.base_rate_log.copy_(base_rate.logs(rates))
    origin = Origin("fleet", base_rate=base_rate.origin_of(seen))
    judged = _write(campaign, trained, origin, site, _newest(campaign, chunks, timelines))
    usual = f"failures per node-week: {sum(rates.values()):.3g}, by {origin.base_rate}"
    warnings = (*unseen_types(plan, timelines), *regimes_told(timelines))
    lines = (told(timelines), reach(timelines), _still(trained.graph.scaling), usual)
    return Fleet(judged, "\n".join(filter(None, lines)), warnings)


def size_of(campaign: Campaign) -> str:
    """Return the size of the training, in the words of `model.training.fitting.sizes.SIZES`."""
    return "tiny" if campaign.plan.schedule == "tiny" else "bundled"


def recipe_of(campaign: Campaign) -> Recipe:
    """Return what decides the weights, besides the data."""
    return recipe(size_of(campaign), campaign.plan.seed)


def check(site: dict[Split, SiteStock], timelines: Sequence[Timeline]) -> None:
    """Raise `TooLittle` where a split has less quiet time than it takes."""
    for split, least in LEAST_HOURS.items():
        hours = site[split].quiet_steps * schema.STEP_SECONDS / 3_600
        if hours < least:
            raise TooLittle(
                f"{hours:.1f} node hours of quiet time to learn from (split {split}), expected at "
                f"least {least:.0f}; {told(timelines)}"
            )


def unseen_types(plan: Plan, timelines: Sequence[Timeline]) -> tuple[str, ...]:
    """Return a line for each type of GPU of which the model has seen nothing."""
    known = {kind for one in timelines if one.stretches for kind in plan.node(one.node).types}
    return tuple(
        f"no usable history of any node with {kind} ({count} nodes): the fleet's model does not "
        "know this type of GPU"
        for kind, count in plan.types.items()
        if kind not in known and kind != UNNAMED
    )


def regimes_told(timelines: Sequence[Timeline]) -> tuple[str, ...]:
    """Say in one line where a restart began another regime; nothing where none did."""
    found = [(one.node, regime) for one in timelines for regime in one.regimes]
    if not found:
        return ()
    shown = ", ".join(
        f"{node} by {regime.watts:+.0f} W since {datetime.fromtimestamp(regime.start, UTC):%F %R}"
        for node, regime in found[:SHOWN_REGIMES]
    )
    more = f" and {len(found) - SHOWN_REGIMES} more" if len(found) > SHOWN_REGIMES else ""
    return (
        f"all GPUs rest at another power since a restart (UTC): {shown}{more}; another "
        "dcgm-exporter or driver? Nothing is learned across it",
    )


def told(timelines: Sequence[Timeline]) -> str:
    """Say how much past there is, and what was left out of it."""
    usable = sum(one.hours for one in timelines)
    conflicts = sum(one.conflicts for one in timelines)
    twice = f"; {conflicts} samples contradict themselves and are missing" if conflicts else ""
    return (
        f"{len(timelines)} nodes, {usable:.0f} node hours usable; "
        f"left out: {left_out(timelines)}{twice}"
    )


def reach(timelines: Sequence[Timeline]) -> str:
    """Say from when to when there is something to learn from; empty where there is nothing."""
    known = [stretch for one in timelines for stretch in one.stretches]
    if not known:
        return ""
    return f"history {span(min(one.start for one in known), max(one.end for one in known))}"


def _still(scaling: Scaling) -> str:
    names = sight.still(scaling)
    return f"no variation in {len(names)} channels: {', '.join(names)}" if names else ""


def left_out(timelines: Sequence[Timeline]) -> str:
    """Say what of the past is not learned from, in hours by reason."""
    hours: Counter[str] = Counter()
    for one in timelines:
        hours.update({str(reason): spent for reason, spent in one.left_out_hours.items()})
    return ", ".join(f"{reason} {spent} h" for reason, spent in sorted(hours.items())) or "nothing"


def _stocks(campaign: Campaign, site: dict[Split, SiteStock]) -> dict[Split, Stock]:
    if campaign.plan.simulate == NOTHING:
        return dict(site)
    told_by_simulator = simulated(recipe(campaign.plan.simulate, campaign.plan.seed))
    return {split: Joined(stock, site[split]) for split, stock in told_by_simulator.items()}


def _newest(campaign: Campaign, chunks: Chunks, timelines: Sequence[Timeline]) -> SiteStock:
    """Return the newest part of the nodes with most failures: what the model is judged on."""
    struck = sorted(timelines, key=lambda one: -len(one.failures))[:JUDGED_NODES]
    span = bounds(Split.TEST, campaign.plan.start, campaign.plan.end)
    return SiteStock(chunks, struck, SHOWN, span)


def _write(
    campaign: Campaign,
    trained: Trained,
    origin: Origin,
    site: dict[Split, SiteStock],
    newest: SiteStock,
) -> Report:
    judged = newest if newest.records else site[Split.HELD]
    data = f"a site's history, the newest part of {len(judged.nodes)} nodes"
    made = finish(
        trained,
        lambda predictor: campaign.judge(predictor, judged, data),
        windows_of(next(judged.episodes(quiet=False))),
        origin,
    )
    path = campaign.folders.model(FLEET)
    # The weights first: the artefact is what others look for.
    weights.save(weights.beside(path), trained.graph, made.version)
    export.write(path, made.blob)
    campaign.folders.write(FLEET, Mark(campaign.plan.digest, Outcome.TRAINED))
    return made.judged
