"""The fast text is the library's text."""

from __future__ import annotations

import gzip
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector

from exporter.page import exposition

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ROWS = st.lists(st.tuples(st.tuples(TEXTS, TEXTS), st.floats(width=64)), max_size=4)


class Fixed(Collector):
    def __init__(self, *families) -> None:
        self._families = families

    def collect(self):
        return iter(self._families)


def families(rows, help_text: str):
    gauge = GaugeMetricFamily("forewarn_one", help_text, labels=("uuid", "gpu"))
    counter = CounterMetricFamily("forewarn_two_total", help_text, labels=("uuid", "gpu"))
    for labels, value in rows:
        gauge.add_metric(labels, value)
        counter.add_metric(labels, value)
    return gauge, counter, GaugeMetricFamily("forewarn_three", help_text, value=len(rows))


@given(ROWS, TEXTS)
def test_it_is_byte_for_byte_what_the_library_writes(rows, help_text: str) -> None:
    made = families(rows, help_text)
    registry = CollectorRegistry()
    registry.register(Fixed(*made))
    assert exposition.text(made) == generate_latest(registry)


def test_large_and_strange_numbers_keep_their_value() -> None:
    rows = [(("a", "0"), value) for value in (5.0e10, 1e-9, math.inf, -math.inf, 123456789.25)]
    text = exposition.text(families(rows, "x")[:1]).decode()
    assert [line.rpartition(" ")[2] for line in text.splitlines()[2:]] == [
        "5e+10",
        "1e-09",
        "+Inf",
        "-Inf",
        "1.2345678925e+08",
    ]


def test_another_type_is_refused_not_written_wrong() -> None:
    with pytest.raises(ValueError, match=r"forewarn_four is a histogram"):
        exposition.text([HistogramMetricFamily("forewarn_four", "x")])


def test_the_compressed_page_is_the_page() -> None:
    body = exposition.text(families([(("a", "0"), 1.0)], "x"))
    assert gzip.decompress(exposition.compressed(body)) == body
