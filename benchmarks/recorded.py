"""Where recorded inputs are, in one way for every benchmark that reads some."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "FOREWARN_DATA"


def find(name: str) -> Path:
    """Return a folder, or a file of one, below the recorded inputs; one line ends who lacks it."""
    where = os.environ.get(VARIABLE)
    if not where:
        raise SystemExit(f"{VARIABLE} is not set: expected the folder that holds {name}")
    path = Path(where) / name
    if not path.exists():
        raise SystemExit(f"{path}: no such file or folder: expected {name} in {VARIABLE}={where}")
    return path
