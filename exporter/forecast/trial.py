"""Loads an artefact in a process of its own first.

A runtime can end a process in ways that no exception tells: a CPU without an
instruction, a sandbox without a list of CPUs, a library that aborts.  The page
must outlive that.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from model import runtime

PATIENCE_SECONDS = 60.0


def died(path: Path, *, patience_seconds: float = PATIENCE_SECONDS) -> str | None:
    """Return how a process that loaded the artefact at `path` ended, or None where it lived."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        child = subprocess.run(
            [sys.executable, "-m", __name__, str(path)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=patience_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not come back within {patience_seconds:.0f} s"
    except OSError:
        return None  # no process may be started here, so nothing was learnt
    if child.returncode >= 0:
        return None  # refused or not, it can be told without dying of it
    return f"was ended by {_name(-child.returncode)}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _load(path: Path) -> int:
    try:
        runtime.load(path)
    except runtime.ModelRefused:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_load(Path(sys.argv[1])))
