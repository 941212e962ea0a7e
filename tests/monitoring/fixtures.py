"""Prometheus and Alertmanager from both ends of what is supported; `tests/conftest.py` plugs in.

The oldest are those of the system's packages, the newest are built from Go modules
by `make monitoring`.  Where continuous integration lacks one of them, that is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[1] / "controlplane" / "build.sh"
# Debian renames one of them.
SPELLINGS = {"alertmanager": ("prometheus-alertmanager", "alertmanager")}


@dataclass(frozen=True)
class Programs:
    """One end of the range: where its programs are, None for the search path."""

    folder: Path | None
    brings: str

    def find(self, name: str) -> str:
        """Return the path of one program; lacking it is a skip, or a failure where all must run."""
        spellings = SPELLINGS.get(name, (name,)) if self.folder is None else (name,)
        path = str(self.folder) if self.folder is not None else None
        found = next(filter(None, (shutil.which(one, path=path) for one in spellings)), None)
        if found is None:
            lacking = f"{name} is missing: {self.brings}"
            if os.environ.get("CI", "").lower() in {"true", "1"}:
                pytest.fail(lacking)
            pytest.skip(lacking)
        return found

    def said_by(self, name: str, *arguments: str | Path, cwd: Path | None = None) -> str:
        """Run a checking command; returns its output, which must be that of a success."""
        result = subprocess.run(
            [self.find(name), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=cwd,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


@pytest.fixture(scope="session", params=["oldest", "newest"])
def monitoring_programs(request: pytest.FixtureRequest) -> Programs:
    """Both ends of the range, one after the other."""
    if request.param == "oldest":
        return Programs(None, "apt-get install prometheus prometheus-alertmanager")
    command = [str(BUILD), "--monitoring", "--where"]
    where = subprocess.run(command, check=True, capture_output=True, text=True)
    return Programs(Path(where.stdout.strip()), "make monitoring")
