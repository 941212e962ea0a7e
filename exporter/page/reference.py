"""The reference of every metric, written from the tables for `docs/metrics.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.backfill.filler import Backfill
from exporter.page import catalog
from exporter.readings import Missing, Reason
from model import schema
from model.runtime import Refusal
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from enum import StrEnum

INTRODUCTION = """\
# Metrics of the exporter

Written by `forewarn-exporter --list-metrics`; `make golden` writes this file anew.

A reading that does not exist has no series: it is counted in `forewarn_missing_readings` under its
kind, and never published as 0.
Counters are passed on as the source gives them and fall when it restarts.
"""
CHANNELS = """\
A channel is one measured quantity.
The window and the model are fed with the channels of GPU and node, in the units given here, so that
a history of these metrics is what a model may be trained on.

DCGM fields stand as they are written in a counter list: names up to DCGM 4.5 first, names of DCGM
4.6 after a slash, fields that are only used where the first is absent after a comma.
dcgm-exporter 2.0 and later is read; 1.x is refused.
"""
LEVELS = {
    schema.Level.GPU: "Channels of each GPU",
    schema.Level.NODE: "Channels of the node",
    schema.Level.FACILITY: "Channels of facility equipment",
}
INTROS = {
    schema.Level.GPU: "Copies (MIG, time slicing, jobs) are folded to the worst, never added.",
    schema.Level.NODE: "`rack_*` is what the facility exporter says of the node's rack.",
    schema.Level.FACILITY: "On the page of the facility exporter, per piece of equipment.",
}
MADE = {
    **dict.fromkeys(dcgm.EVENTS.values(), "codes that appear, and " + ", ".join(dcgm.XID_COUNTS)),
    "gpu_unchanged_seconds": "all fields of the GPU",
}
WHO = {
    schema.Origin.DCGM: "dcgm-exporter",
    schema.Origin.REDFISH: "BMC (Redfish)",
    schema.Origin.FACILITY: "CDU, rack PDU, power shelf, door",
    schema.Origin.EXPORTER: "the exporter itself",
}


def markdown() -> str:
    """Return the reference as one page."""
    parts = [INTRODUCTION, "## Predictions\n", _families(catalog.PREDICTIONS)]
    parts += ["## Health of the exporter and its sources\n", _families(catalog.HEALTH)]
    parts += ["## Health of the facility exporter\n", _families(catalog.FACILITY)]
    parts += ["### Kinds of missing\n", _words(Missing), "### Reasons of errors\n", _words(Reason)]
    parts += ["### Reasons of refused models\n", _words(Refusal)]
    parts += ["### How far a cold window was filled\n", _words(Backfill)]
    parts += ["## Channels\n", CHANNELS]
    for level, title in LEVELS.items():
        parts += [f"### {title}\n", INTROS[level] + "\n", _channels(schema.channels(level))]
    return "\n".join(parts)


def _families(metrics: Iterable[catalog.Metric]) -> str:
    rows = ((f"`{m.name}`", m.kind, ", ".join(m.labels), m.help) for m in metrics)
    return _table(("metric", "type", "labels", "meaning"), rows)


def _channels(rows: Iterable[schema.Channel]) -> str:
    header = ("metric", "unit", "cause", "from", "meaning", "possible range", "absent when")
    return _table(header, (_channel(row) for row in rows))


def _channel(row: schema.Channel) -> tuple[str, ...]:
    kind = "" if row.kind is schema.Kind.GAUGE else f" ({row.kind})"
    span = "any count" if row.kind is schema.Kind.COUNTER else f"{row.low:g} to {row.high:g}"
    unit = row.unit.replace("_", " ") or "-"
    return f"`{row.metric}`{kind}", unit, row.cause, _origin(row), row.text, span, row.absent


def _origin(row: schema.Channel) -> str:
    fields = [f.names for f in dcgm.FIELDS if set(f.names) & set(dcgm.spellings(row.name))]
    listed = ", ".join(" / ".join(f"`{name}`" for name in names) for names in fields)
    return listed or MADE.get(row.name, WHO[row.origin])


def _words(kinds: type[StrEnum]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds) + ".\n"


def _table(header: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    def lines() -> Iterator[str]:
        yield "| " + " | ".join(header) + " |"
        yield "|" + " --- |" * len(header)
        for row in rows:
            yield "| " + " | ".join(row) + " |"

    return "\n".join(lines()) + "\n"
