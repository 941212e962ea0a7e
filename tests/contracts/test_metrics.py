"""Every metric and label that a rule, runbook or panel asks for is one that somebody publishes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from dashboards.queries import panel_queries, variable_queries
from exporter.forecast.drift import Doubt
from exporter.forecast.forecaster import Degraded, State
from exporter.readings import SourceName
from model.schema import HORIZONS, Cause
from remediation.catalog import Catalog
from tests.contracts.catalogues import ROOT, RULES, TARGET_LABELS, published, rules_of
from tests.contracts.promql import Selector, reads

PUBLISHED = published()
CLOSED = {
    "state": set(State),
    "reason": {*Degraded, *Doubt},
    "source": set(SourceName),
    "cause": set(Cause),
    "horizon": set(HORIZONS),
    "severity": {"info", "warning", "critical"},
}
"""Labels of the exporter's page whose values are a closed list."""

EXPRESSIONS = [
    pytest.param(str(rule["expr"]), id=f"{path.name}:{rule.get('alert') or rule.get('record')}")
    for path in RULES
    for rule in rules_of(path)
] + [pytest.param(query.expr, id=f"{query.dashboard}:{query.panel}") for query in panel_queries()]


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_every_metric_asked_for_is_published(expr: str) -> None:
    assert reads(expr).metrics <= PUBLISHED.keys()


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_every_label_asked_for_is_on_the_metric(expr: str) -> None:
    read = reads(expr)
    for selector in read.selectors:
        assert selector.matchers.keys() <= PUBLISHED[selector.metric] | TARGET_LABELS, selector
    carried = set().union(*(PUBLISHED[metric] for metric in read.metrics)) | TARGET_LABELS
    assert read.grouped_by <= carried


def named_values(selector: Selector) -> set[tuple[str, str]]:
    """Label and value pairs that a selector spells out; patterns over everything do not."""
    return {
        (label, value)
        for label, (_, text) in selector.matchers.items()
        for value in text.split("|")
        if value not in ("", ".*")
    }


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_every_value_of_a_closed_label_exists(expr: str) -> None:
    for selector in reads(expr).selectors:
        if selector.metric.startswith("forewarn_remediation_"):
            continue  # its lists are its own, see below
        for label, value in named_values(selector):
            assert label not in CLOSED or value in CLOSED[label], (label, value)


def test_every_value_of_a_label_of_remediation_is_published() -> None:
    values = remediation_values()
    for case in EXPRESSIONS:
        for selector in reads(str(case.values[0])).selectors:
            if selector.metric.startswith("forewarn_remediation_"):
                assert named_values(selector) <= values, selector


def remediation_values() -> set[tuple[str, str]]:
    registry = CollectorRegistry()
    Catalog(registry)
    return {
        pair
        for family in registry.collect()
        for sample in family.samples
        for pair in sample.labels.items()
    }


def test_variables_take_their_values_from_published_metrics() -> None:
    assert set(variable_queries()) <= PUBLISHED.keys()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "alerts" / "runbooks").glob("*.md")), ids=lambda path: path.stem
)
def test_every_metric_named_in_a_runbook_is_published(path: Path) -> None:
    named = set(re.findall(r"\bforewarn[_:][a-z_:]+[a-z]\b", path.read_text()))
    assert named <= PUBLISHED.keys()


def test_every_metric_named_in_the_settings_of_remediation_is_published() -> None:
    text = (ROOT / "deploy" / "config" / "remediation.example.yml").read_text()
    assert set(re.findall(r"\bforewarn_[a-z_]+[a-z]\b", text)) <= PUBLISHED.keys()


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_every_metric_named_in_an_annotation_is_published(path: Path) -> None:
    texts = [str(rule.get("annotations", "")) for rule in rules_of(path)]
    assert set(re.findall(r"\bforewarn_[a-z_]+[a-z]\b", " ".join(texts))) <= PUBLISHED.keys()
