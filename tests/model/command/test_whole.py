"""Commands of the training half, from the command line to their end, on a few nodes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from model import cli, runtime

pytestmark = pytest.mark.training
TINY = ("--simulate", "tiny")


@pytest.fixture(autouse=True)
def _extra() -> None:
    pytest.importorskip("torch", reason="needs the train extra")


def test_a_training_that_diverges_says_so_and_writes_nothing(tmp_path: Path) -> None:
    """A step a million times too long, in a process of its own."""
    program = (
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from model.training.commands.train import train\n"
        "from model.training.fitting.fit import Schedule\n"
        "from model.training.fitting.sizes import recipe\n"
        "steep = Schedule(iterations=40, batch=8, learning_rate=1e6)\n"
        f"out = Path({str(tmp_path / 'fleet.onnx')!r})\n"
        "train(replace(recipe('tiny', 3), schedule=steep), out, with_weights=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 1, done.stdout
    *progress, said = [line for line in done.stderr.splitlines() if line]
    assert all(line.startswith("healthy windows: ") for line in progress)
    assert said.startswith("forewarn-model: training diverged, nothing written: iteration ")
    assert not list(tmp_path.iterdir())


def test_an_artefact_of_an_earlier_version_is_completed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnx

    from model.training.artefacts import export

    path = tmp_path / "fleet.onnx"
    shutil.copy(cli.BUNDLED, path)
    whole = runtime.load(path).info
    without = msgspec.structs.replace(whole, training_ranges={}, base_rate=None)
    export.write(path, export.serialise(onnx.load(path), without))
    assert cli.main(["complete", str(path)]) == 0
    assert cli.main(["complete", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{path}: what it lacked was added",
        f"{path}: tells everything already",
    ]
    assert runtime.load(path).info.training_ranges == whole.training_ranges


def test_what_is_no_artefact_is_not_completed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fleet.onnx"
    path.write_text("no model")
    assert cli.main(["complete", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"forewarn-model: not_onnx: {path}")
    assert path.read_text() == "no model"


def test_false_alerts_are_counted_where_nothing_fails_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "quiet.json"
    line = ["evaluate", str(cli.BUNDLED), *TINY, "--quiet-node-weeks", "1", "--json", str(table)]
    assert cli.main(line) == 0
    said = capsys.readouterr().out
    assert "simulated quiet split of seed 7, full visibility" in said
    assert f"wrote {table}" in said
    told = msgspec.json.decode(table.read_bytes())
    assert told["node_weeks"] >= 1.0


def test_each_kind_of_fault_is_left_out_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "strangers.json"
    line = ["leave-each-out", str(cli.BUNDLED), *TINY, "--json", str(table)]
    assert cli.main(line) == 0
    assert "every kind of fault left out of training once" in capsys.readouterr().out
    turns = msgspec.json.decode(table.read_bytes())["turns"]
    assert {turn["events"] for turn in turns} == {1}
