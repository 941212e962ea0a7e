"""The fleet and its nodes on one page: who is at risk, why, who is looking, what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana_foundation_sdk.builders import dashboard as grafana
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from dashboards import facility_rows, node_rows, service_rows
from dashboards.panels import SOURCE

if TYPE_CHECKING:
    from grafana_foundation_sdk.models.dashboard import Dashboard

    from dashboards.panels import Panels

UID = "forewarn-fleet"
"""Never changes: the alerts' `dashboard_url` names it."""


def dashboard() -> Dashboard:
    """Build the page."""
    page = (
        grafana.Dashboard("Forewarn fleet")
        .uid(UID)
        .description("Which GPU nodes will fail, why and how soon, and what was done about it.")
        .tags(["forewarn"])
        .refresh("30s")
        .time("now-6h", "now")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .readonly()
        .with_variable(_datasource())
        .with_variable(_values("node", "Node", "forewarn_prediction_state"))
        .with_variable(_horizon())
    )
    for title, panels in _rows().items():
        page = page.with_row(grafana.Row(title))
        for panel in panels:
            page = page.with_panel(panel)
    return page.build()


def _rows() -> dict[str, Panels]:
    return {
        "Risk": node_rows.risk(),
        "Evidence": node_rows.evidence(),
        "Telemetry": node_rows.telemetry(),
        "Facility": facility_rows.facility(),
        "Sources": service_rows.sources(),
        "Remediation": service_rows.remediation(),
    }


def _datasource() -> grafana.DatasourceVariable:
    return grafana.DatasourceVariable("datasource").label("Data source").type("prometheus")


def _values(name: str, label: str, metric: str) -> grafana.QueryVariable:
    return (
        grafana.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(f"label_values({metric}, {name})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_CASE_INSENSITIVE_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text="All", value="$__all"))
    )


def _horizon() -> grafana.CustomVariable:
    return (
        grafana.CustomVariable("horizon")
        .label("Horizon")
        .values("1h,6h,24h,72h")
        .current(VariableOption(selected=True, text="24h", value="24h"))
    )
