"""Fixtures for every tier."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["tests.controlplane.fixtures"]

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recorded inputs; tests that need it skip, visibly, where it is absent."""
    folder = Path(os.environ.get("FOREWARN_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"recorded inputs not found at {folder}: set FOREWARN_DATA")
    return folder
