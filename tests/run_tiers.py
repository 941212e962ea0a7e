"""Runs every tier of tests that this machine can run, and says which it cannot and what brings it.

`make test` calls this. Tests of a tier whose needs are missing are left out
and listed, with the one command that provides them. Where CI is true, or
FOREWARN_REQUIRE_ALL_TIERS is 1, a tier that was left out fails the run.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Tier:
    """One marker; `lacking` says what the machine lacks for it, empty for nothing."""

    name: str
    lacking: Callable[[], str]
    command: str


def _not_on_path(*alternatives: tuple[str, ...]) -> str:
    return ", ".join(names[0] for names in alternatives if not any(map(shutil.which, names)))


def _services() -> str:
    return _not_on_path(
        ("prometheus",), ("promtool",), ("prometheus-alertmanager", "alertmanager"), ("amtool",)
    )


def _control_plane() -> str:
    from simulator.controlplane.plane import assets, missing_programs

    missing = missing_programs()
    return f"{', '.join(missing)} in {assets()}" if missing else ""


def _training() -> str:
    return "" if importlib.util.find_spec("torch") else "torch"


def _recorded_inputs() -> str:
    folder = Path(os.environ.get("FOREWARN_DATA", ROOT.parent / "shared" / "data"))
    return "" if folder.is_dir() else str(folder)


SERVICES = "apt-get install prometheus prometheus-alertmanager"
TIERS = (
    Tier("scenario", _services, SERVICES),
    Tier(
        "browser",
        lambda: _not_on_path(("chromium",), ("chromedriver",)),
        "apt-get install chromium chromium-driver",
    ),
    Tier("training", _training, "make .venv/.train"),
    Tier("cluster", _control_plane, "make controlplane"),
    Tier("services", _services, SERVICES),
    Tier("quick", lambda: "", ""),
)
"""The most demanding first: a test with several markers counts for the first of them."""

RECORDED = Tier("recorded inputs", _recorded_inputs, "set FOREWARN_DATA to their folder")


@dataclass(eq=False)
class Report:
    """What became of the tests of each tier; a pytest plugin."""

    lacking: Mapping[Tier, str]
    strict: bool
    tiers: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {tier.name: Counter() for tier in TIERS}
    )

    def unrun(self) -> list[str]:
        """Names of the tiers that were left out, or of which any test skipped itself."""
        hollow = [name for name, seen in self.counts.items() if seen["skipped"]]
        return [tier.name for tier in self.lacking] + hollow

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note the tier of each test; reports do not tell markers from folder names."""
        for item in items:
            self.tiers[item.nodeid] = tier_of({marker.name for marker in item.iter_markers()})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count each test once, by what decided it."""
        decided = report.when == "call" or report.outcome != "passed"
        if decided:
            self.counts[self.tiers[report.nodeid]][report.outcome] += 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the list, above pytest's own last lines."""
        terminalreporter.section("tiers")
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> list[str]:
        """The list, one tier a line, the least demanding first."""
        told = [f"{tier.name:<16}{self._told(tier)}" for tier in reversed(TIERS)]
        if RECORDED in self.lacking:
            told.append(f"{RECORDED.name:<16}{self._told(RECORDED)}")
        if self.strict and self.unrun():
            told.append(f"FAILED: every tier is required here; not run: {', '.join(self.unrun())}")
        return told

    def _told(self, tier: Tier) -> str:
        if tier in self.lacking:
            return f"SKIPPED, missing: {self.lacking[tier]}. This provides it: {tier.command}"
        seen = self.counts[tier.name]
        if not seen:
            return "has no tests"
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(seen.items()))


def tier_of(markers: Collection[str]) -> str:
    """Return the tier a test counts for; one without a marker is quick."""
    return next((tier.name for tier in TIERS if tier.name in markers), "quick")


def is_strict(environment: Mapping[str, str]) -> bool:
    """Tell whether a tier that cannot run is a failure."""
    required = environment.get("FOREWARN_REQUIRE_ALL_TIERS", "0")
    return environment.get("CI", "").lower() in ("true", "1") or required == "1"


def main() -> int:
    """Run pytest on what can run; its exit status, or 1 for a tier that must not be missing."""
    os.chdir(ROOT)
    sys.path[0] = str(ROOT)  # in place of this folder, whose names are those of the packages
    lacking = {tier: what for tier in (*TIERS, RECORDED) if (what := tier.lacking())}
    report = Report(lacking, is_strict(os.environ))
    left_out = " and ".join(f"not {tier.name}" for tier in lacking if tier is not RECORDED)
    arguments = ["-m", left_out] if left_out else []
    status = int(pytest.main([*arguments, "--durations=10", *sys.argv[1:]], plugins=[report]))
    return status or int(report.strict and bool(report.unrun()))


if __name__ == "__main__":
    sys.exit(main())
