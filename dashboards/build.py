"""Writes every dashboard as JSON beside its code: `python -m dashboards.build`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards import fleet

if TYPE_CHECKING:
    from grafana_foundation_sdk.models.dashboard import Dashboard

FOLDER = Path(__file__).resolve().parent
DASHBOARDS = {"fleet.json": fleet.dashboard}
"""File name → function that builds it."""


def rendered(dashboard: Dashboard) -> str:
    """Return the committed text: sorted keys and fixed panel ids, so that a diff shows a change."""
    document: dict[str, Any] = json.loads(json.dumps(dashboard, cls=JSONEncoder))
    for number, panel in enumerate(document["panels"], start=1):
        panel["id"] = number
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def main() -> None:
    """Write all files and say which."""
    for name, build in DASHBOARDS.items():
        (FOLDER / name).write_text(rendered(build()), encoding="utf-8")
        print(f"wrote dashboards/{name}")  # noqa: T201 - a command that tells its user


if __name__ == "__main__":
    main()
