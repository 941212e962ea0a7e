"""The reference in `docs/` is what the tables say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.page import catalog, reference
from model import schema
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Callable


def test_golden_metrics_reference_is_current(golden: Callable[[str, str], None]) -> None:
    golden("../../docs/metrics.md", reference.markdown())


def test_it_names_every_metric_every_channel_and_every_field_once_per_row() -> None:
    text = reference.markdown()
    for metric in catalog.METRICS:
        assert text.count(f"| `{metric.name}`") == 1, metric.name
    for field in dcgm.FIELDS:
        assert all(f"`{name}`" in text for name in field.names)
    for row in schema.CHANNELS:
        assert row.absent in text
