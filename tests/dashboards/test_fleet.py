"""The committed dashboard is what its code builds; Grafana can place and find all of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.build import DASHBOARDS, FOLDER, rendered
from dashboards.queries import panel_queries


@pytest.fixture(params=sorted(DASHBOARDS))
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    text = (FOLDER / request.param).read_text(encoding="utf-8")
    return dict(json.loads(text))


@pytest.mark.parametrize("name", sorted(DASHBOARDS))
def test_golden_json_is_what_the_code_builds(name: str, request: pytest.FixtureRequest) -> None:
    path, built = FOLDER / name, rendered(DASHBOARDS[name]())
    if request.config.getoption("--golden-update"):
        path.write_text(built, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == built, "read the diff of: python -m dashboards.build"


def test_no_json_without_code() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == set(DASHBOARDS)


def test_the_uid_is_the_one_that_alerts_link_to(document: dict[str, Any]) -> None:
    assert document["uid"] == "forewarn-fleet"


def test_every_panel_asks_the_data_source_of_the_variable(document: dict[str, Any]) -> None:
    names = {variable["name"]: variable["type"] for variable in document["templating"]["list"]}
    assert names["datasource"] == "datasource"
    for panel in document["panels"]:
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${datasource}", panel["title"]


def test_every_panel_says_what_it_shows(document: dict[str, Any]) -> None:
    for panel in document["panels"]:
        if panel["type"] != "row":
            assert panel["description"].endswith("."), panel["title"]


def test_panels_do_not_overlap(document: dict[str, Any]) -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in document["panels"]:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            assert x < 24, panel["title"]
            for y in range(place["y"], place["y"] + place["h"]):
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]


def test_ids_and_titles_are_unique(document: dict[str, Any]) -> None:
    panels = document["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)


def test_queries_carry_no_unfilled_variable() -> None:
    queries = panel_queries(node="n1", horizon="6h")
    assert queries
    assert not [query for query in queries if "$" in query.expr]
    assert any('node=~"n1"' in query.expr and '"6h"' in query.expr for query in queries)


@pytest.mark.services
def test_prometheus_can_parse_every_query(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not on PATH: install Prometheus")
    rules = [
        {"record": f"query:{number}", "expr": query.expr}
        for number, query in enumerate(panel_queries())
    ]
    path = tmp_path / "queries.rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    result = subprocess.run(
        ["promtool", "check", "rules", path],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
