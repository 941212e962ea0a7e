"""Loading a model changes nothing outside the process and starts nothing inside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import artefact

pytestmark = pytest.mark.scenario
ROOT = Path(__file__).resolve().parents[3]
LOAD = """
import os, sys
from pathlib import Path
import model.runtime
predictor = model.runtime.load(Path(sys.argv[1]))
state = predictor.initial_state(2)
print(len(os.listdir("/proc/self/task")))
"""


def test_the_runtime_keeps_no_diary_and_no_thread(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    path = artefact.write(tmp_path / "fleet.onnx")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORT_")}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path)],
        env={**kept, "HOME": str(home), "OPENBLAS_NUM_THREADS": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert list(home.rglob("*")) == []
