"""The rules, judged by promtool: their own cases, and that the cases would notice a change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.monitoring.fixtures import Programs

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "alerts").glob("*.rules.yml"))
CASES = sorted(Path(__file__).parent.glob("*.test.yml"))
pytestmark = pytest.mark.services


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not on PATH: install Prometheus")
    return subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )


def alerts_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for group in document["groups"] for rule in group["rules"] if "alert" in rule]


def every_hold() -> list[Any]:
    """Rule file, index of an alert in it, and one of its keys that dampens."""
    return [
        pytest.param(path, index, key, id=f"{alert['alert']}-{alert['labels']['severity']}-{key}")
        for path in RULES
        for index, alert in enumerate(alerts_of(yaml.safe_load(path.read_text())))
        for key in ("for", "keep_firing_for")
        if key in alert
    ]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_load(path: Path, monitoring_programs: Programs) -> None:
    monitoring_programs.said_by("promtool", "check", "rules", path)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_cases_hold(path: Path, monitoring_programs: Programs) -> None:
    monitoring_programs.said_by("promtool", "test", "rules", path)


def without(path: Path, index: int, key: str) -> str:
    """Return the text of a rule file without one alert's `key`."""
    document = yaml.safe_load(path.read_text())
    del alerts_of(document)[index][key]
    return yaml.safe_dump(document)


def is_noticed(text: str, rules: Path, folder: Path) -> bool:
    """Run the cases of `rules` against the changed `text`; tell whether one fails."""
    (folder / "alerts").mkdir()
    (folder / "tests" / "rules").mkdir(parents=True)
    (folder / "alerts" / rules.name).write_text(text)
    cases = [case for case in CASES if rules.name in case.read_text()]
    copies = [shutil.copy(case, folder / "tests" / "rules") for case in cases]
    return any(promtool("test", "rules", copy).returncode for copy in copies)


@pytest.mark.parametrize(("path", "index", "key"), every_hold())
def test_a_hold_that_is_removed_is_noticed(
    path: Path, index: int, key: str, tmp_path: Path
) -> None:
    assert is_noticed(without(path, index, key), path, tmp_path)
