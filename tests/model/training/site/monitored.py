"""Histories in a real Prometheus, and the command that trains from it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.exporter.app.monitoring import Prometheus


def put(text: Path, folder: Path) -> None:
    """Turn OpenMetrics text into blocks, of which a Prometheus in `folder` serves the past."""
    blocks = ["promtool", "tsdb", "create-blocks-from", "openmetrics"]
    subprocess.run([*blocks, text, folder / "tsdb"], check=True, capture_output=True)


def asked(
    server: Prometheus, *line: str, until: float, days: float
) -> subprocess.CompletedProcess[str]:
    """Run `forewarn-model` with these arguments on the time that ends at `until`."""
    program = [sys.executable, "-m", "model", *line]
    site = ["--prometheus", f"http://127.0.0.1:{server.port}"]
    span = ["--until", str(until), "--days", str(days)]
    return subprocess.run(
        [*program, *site, *span], capture_output=True, text=True, check=False, timeout=300
    )
