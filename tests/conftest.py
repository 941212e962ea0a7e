"""Fixtures for every tier."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable

pytest_plugins = ["tests.controlplane.fixtures", "tests.monitoring.fixtures"]

ROOT = Path(__file__).resolve().parent.parent

# Machines are shared: how long an example took says nothing.  In continuous integration the
# examples are the same every time, so that a red run can be repeated; elsewhere they are new.
settings.register_profile(
    "forewarn",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("forewarn")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recorded inputs; tests that need it skip, visibly, where it is absent."""
    folder = Path(os.environ.get("FOREWARN_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"recorded inputs not found at {folder}: set FOREWARN_DATA")
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that writes golden files anew instead of comparing."""
    parser.addoption("--golden-update", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/<name>`, or write it there under --golden-update."""

    def compare(name: str, text: str) -> None:
        path = ROOT / "tests" / "golden" / name
        if request.config.getoption("--golden-update"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        assert text == expected, f"{path} differs: read the diff, then `make golden`"

    return compare
