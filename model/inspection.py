"""An artefact in words: what it is, where it is from, what it was worth, what it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from model.schema import BY_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from model.artefact import ArtefactInfo, Evaluation
    from model.runtime import Predictor

PROVENANCE = {
    "bundled-simulated": "trained on simulated nodes only; shipped with Forewarn",
    "fleet": "trained on the history of many nodes of a site",
    "node": "trained on the history of one node",
}


def as_json(info: ArtefactInfo) -> str:
    """Return the metadata as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(info), indent=2).decode()


def describe(path: Path, predictor: Predictor) -> str:
    """Return the metadata for a person."""
    info = predictor.info
    lines = (
        f"{path}",
        f"  version      {info.version} (file {predictor.digest})",
        f"  provenance   {info.provenance}: {PROVENANCE[info.provenance]}",
        f"  trained      {_date(info.trained_timestamp)}, seed {info.seed}, {_trained_on(info)}",
        *_history(info),
        f"  with         {', '.join(f'{name} {v}' for name, v in info.frameworks.items())}",
        f"  reads        {info.window_steps} steps of {info.step_seconds} s, "
        f"{len(info.channels)} channels per GPU; remembers {info.state_width} values per GPU",
        f"  tells        horizons {', '.join(info.horizons)}; causes {', '.join(info.causes)}",
        *_base_rate(info),
        "",
        *_worth(info.evaluation),
        "",
        *_channels(info),
    )
    return "\n".join(lines)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _trained_on(info: ArtefactInfo) -> str:
    without = f", without {', '.join(info.training.left_out)}" if info.training.left_out else ""
    sizes = " and ".join(map(str, info.training.gpus))
    of = f", nodes of {sizes} GPUs" if sizes else ""
    return f"{info.training.episodes} episodes, {info.training.rows} rows{of}{without}"


def _history(info: ArtefactInfo) -> tuple[str, ...]:
    if info.provenance == "bundled-simulated":
        return ()
    return (f"  history      {span(info.training.first_timestamp, info.training.last_timestamp)}",)


def span(first: float, last: float) -> str:
    """Return from when to when (wall-clock seconds) for a person."""
    return f"from {_date(first)} to {_date(last)}"


def _base_rate(info: ArtefactInfo) -> tuple[str, ...]:
    told = info.base_rate
    if told is None:
        return ("  base rate    not told; `forewarn-model complete` reads it out of the graph",)
    shares = ", ".join(f"{cause} {rate:.4g}" for cause, rate in told.per_node_week.items())
    later = ("               set later than what follows was measured",) if told.set_later else ()
    return (
        f"  base rate    {told.total:.4g} failures per node-week, by {told.origin}",
        f"               {shares}",
        *later,
    )


def _worth(worth: Evaluation) -> tuple[str, ...]:
    return (
        f"worth, on {worth.data}: {worth.node_weeks:.1f} node-weeks",
        f"  an alert is a {worth.horizon} probability of {worth.threshold:g} or more",
        f"  event recall                 {worth.event_recall:.3f} of {worth.events} failures",
        f"  lead time, median            {worth.median_lead_hours:.1f} h "
        f"(quartiles {worth.lead_hours_quartiles[0]:.1f} and {worth.lead_hours_quartiles[1]:.1f})",
        f"  false alerts                 {worth.false_alerts_per_node_week:.4f} per node-week, "
        f"at most {worth.false_alerts_per_node_week_upper:.4f} (95 %), "
        "in the time in which an alert is false",
        f"  precision                    {worth.precision:.3f} where "
        f"{worth.base_rate_per_node_week:.3f} failures come in a node-week, as in this data",
        f"                               at least {worth.precision_at_field_rate_lower:.3f} where "
        f"{worth.field_rate_per_node_week:.3f} do, as in the field",
        f"  Brier score                  {worth.brier:.6f}; always the base rate: "
        f"{worth.brier_of_base_rate:.6f}; always healthy: {worth.brier_of_always_healthy:.6f}",
    )


def _range(info: ArtefactInfo, name: str) -> str:
    if name not in info.training_ranges:
        return ""
    low, high = info.training_ranges[name]
    return f"; training range {low:.4g} to {high:.4g}"


def _channels(info: ArtefactInfo) -> tuple[str, ...]:
    width = max(len(name) for name in info.names)
    use = dict.fromkeys(info.unseen, "unseen") | dict.fromkeys(info.required, "required")
    rows = (
        f"  {use.get(channel.name, 'optional'):<8}  {channel.name:<{width}}  "
        f"{channel.unit or '-':<18}  {BY_NAME[channel.name].text}{_range(info, channel.name)}"
        for channel in info.channels
    )
    blind = f"; {len(info.unseen)} unseen in training, read as missing" if info.unseen else ""
    head = f"channels, in input order (without a required one there is no probability{blind})"
    return (head, *_ranges(info), *rows)


def _ranges(info: ArtefactInfo) -> tuple[str, ...]:
    if not info.training_ranges:
        return ()
    return ("  a training range is the mean of healthy nodes and four deviations to both sides",)
