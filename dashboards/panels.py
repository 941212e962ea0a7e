"""The few kinds of panel we use, so that a dashboard reads as a list of questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from grafana_foundation_sdk.builders import dashboard as grafana
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

if TYPE_CHECKING:
    from grafana_foundation_sdk.cog.builder import Builder
    from grafana_foundation_sdk.models.dashboard import Panel

    AnyPanel: TypeAlias = Builder[Panel]
    Panels: TypeAlias = list[AnyPanel]

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
CALM = (Threshold(None, "green"), Threshold(0.05, "orange"), Threshold(0.1, "red"))
"""Colours of a probability; where alerts begin is the matter of the rules, not of these."""
ANY_IS_BAD = (Threshold(None, "green"), Threshold(1, "red"))
NONE_IS_BAD = (Threshold(None, "red"), Threshold(1, "green"))
PLAIN = (Threshold(None, "text"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How values are shown: Grafana's unit id, width and height on the 24-column grid, colours."""

    unit: str = "short"
    width: int = 12
    height: int = 8
    steps: tuple[Threshold, ...] = PLAIN
    heat: bool = False

    @property
    def color(self) -> FieldColorModeId:
        """By the steps where there are some, else by size or by series."""
        if self.heat:
            return FieldColorModeId.CONTINUOUS_GR_YL_RD
        return (
            FieldColorModeId.PALETTE_CLASSIC if self.steps is PLAIN else FieldColorModeId.THRESHOLDS
        )


SMALL = Look(width=6, height=4)
THIRD = Look(width=8)


def small(steps: tuple[Threshold, ...]) -> Look:
    """A quarter of the width, for one number."""
    return Look(width=6, height=4, steps=steps)


def number(title: str, expr: str, text: str, look: Look) -> stat.Panel:
    """One value, as it is now."""
    return _dressed(stat.Panel(), title, text, look).with_target(_instant(expr))


def over_time(title: str, queries: dict[str, str], text: str, look: Look) -> timeseries.Panel:
    """Lines over time; `queries` maps a legend to its expression."""
    panel = _dressed(timeseries.Panel(), title, text, look).fill_opacity(5)
    for index, (legend, expr) in enumerate(queries.items()):
        query = prometheus.Dataquery().expr(expr).legend_format(legend).range()
        panel = panel.with_target(query.ref_id(chr(ord("A") + index)))
    return panel


def matrix(title: str, expr: str, text: str, look: Look, *, rows: str, columns: str) -> table.Panel:
    """Coloured cells: one row per value of label `rows`, one column per value of `columns`."""
    grouping = {"rowField": rows, "columnField": columns, "valueField": "Value"}
    return (
        _coloured(_dressed(table.Panel(), title, text, look))
        .with_target(_instant(expr).format(PromQueryFormat.TABLE))
        .with_transformation(DataTransformerConfig("groupingToMatrix", options=grouping))
    )


def ranking(title: str, expr: str, text: str, look: Look) -> table.Panel:
    """One row per series with its labels, largest first."""
    hidden = {"excludeByName": {"Time": True}}
    by_value = {"sort": [{"field": "Value", "desc": True}]}
    return (
        _coloured(_dressed(table.Panel(), title, text, look))
        .with_target(_instant(expr).format(PromQueryFormat.TABLE))
        .with_transformation(DataTransformerConfig("organize", options=hidden))
        .with_transformation(DataTransformerConfig("sortBy", options=by_value))
    )


def _instant(expr: str) -> prometheus.Dataquery:
    return prometheus.Dataquery().expr(expr).instant().ref_id("A")


def _coloured(panel: table.Panel) -> table.Panel:
    cell = DynamicConfigValue("custom.cellOptions", {"type": "color-background"})
    return panel.override_by_field_type("number", [cell])


P = TypeVar("P", stat.Panel, timeseries.Panel, table.Panel)


def _dressed(panel: P, title: str, text: str, look: Look) -> P:
    thresholds = grafana.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(list(look.steps))
    return (
        panel.title(title)
        .description(text)
        .datasource(SOURCE)
        .unit(look.unit)
        .span(look.width)
        .height(look.height)
        .thresholds(thresholds)
        .color_scheme(grafana.FieldColor().mode(look.color))
    )
