"""Every query of the committed dashboards, with variables filled in as Grafana would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
DEFAULTS = {"node": ".*", "horizon": "24h", "__rate_interval": "5m"}
"""What stands for a variable that the caller does not name: all nodes, the usual horizon."""


@dataclass(frozen=True, slots=True)
class PanelQuery:
    """One query as Prometheus gets it, and where it is shown."""

    dashboard: str
    panel: str
    expr: str


def panel_queries(**variables: str) -> list[PanelQuery]:
    """Return the queries of all panels; `variables` override `DEFAULTS`."""
    values = DEFAULTS | variables
    return [
        PanelQuery(path.name, panel["title"], _filled(target["expr"], values))
        for path in sorted(FOLDER.glob("*.json"))
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]
        for target in panel.get("targets", ())
    ]


def variable_queries() -> list[str]:
    """Return the metric that each query variable takes its values from."""
    return [
        _metric_of(variable)
        for path in sorted(FOLDER.glob("*.json"))
        for variable in json.loads(path.read_text(encoding="utf-8"))["templating"]["list"]
        if variable["type"] == "query"
    ]


def _metric_of(variable: dict[str, Any]) -> str:
    text: str = variable["query"]
    return text.removeprefix("label_values(").partition(",")[0]


def _filled(expr: str, values: dict[str, str]) -> str:
    for name in sorted(values, key=len, reverse=True):
        expr = expr.replace(f"${name}", values[name])
    return expr
