"""Report → one self-contained HTML page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from model.training.judging import table
from model.training.page import charts
from model.training.page.svg import legend

if TYPE_CHECKING:
    from model.training.judging.report import Example, Report

STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


def render(report: Report, artefact: str) -> str:
    """Return the page; `artefact` says in words what was judged."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Forewarn: what a model is worth</title><style>{STYLE}</style></head><body>"
        f"<h1>What this model is worth</h1><p class=soft>{escape(artefact)}</p>"
        f"<p>{escape(report.data)}: {report.events} failures, {report.node_weeks:.1f} node-weeks. "
        f"An alert is a {report.headline_horizon} probability of "
        f"{report.headline_threshold:g} or more unless a line says otherwise.</p>"
        f"{_overview(report)}{_stories(report)}{_tables(report)}</body></html>\n"
    )


def _overview(report: Report) -> str:
    cards = (
        ("Recall against alert budget",
         "How many failures are foretold for how many false alerts, every threshold of every "
         "score on the same nodes.", charts.recall_against_budget(report)),
        ("Lead time by kind of fault",
         "Each dot is a failure that was foretold; boxes are quartiles. What was missed has no "
         "dot: see the table.", charts.leads(report.kinds)),
        ("Reliability",
         "What came of moments at which this much was said; the dashed line is perfect.",
         charts.reliability(report.calibration)),
    )  # fmt: skip
    return f"<h2>Overview</h2><div class=grid>{''.join(_card(*card) for card in cards)}</div>"


def _stories(report: Report) -> str:
    return (
        "<h2>One story of each kind</h2><p class=soft>Of faults the one of middle length, of the "
        "others the one with the highest probability. The dashed line is the alert's level.</p>"
        f"{legend(report.horizons, charts.colour)}"
        f"<div class=grid>{''.join(_story(one, report) for one in report.examples)}</div>"
    )


def _story(example: Example, report: Report) -> str:
    drawn = (
        charts.timeline(example, report.horizons, report.headline_threshold)
        + charts.score_line(example)
        + charts.contributions(example)
    )
    return _card(example.kind, f"{example.node}; cause named: {example.cause}", drawn)


def _tables(report: Report) -> str:
    return f"<h2>All numbers</h2><pre>{escape(table.render(report))}</pre>"


def _card(title: str, text: str, drawn: str) -> str:
    return (
        f"<section class=card><h3>{escape(title)}</h3><p class=soft>{escape(text)}</p>"
        f"{drawn}</section>"
    )
