"""Training from the command line, whole, on a set of a few nodes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from model import cli, runtime
from simulator.faults import STORIES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.training
FAULTS = sum(story.cause is not None for story in STORIES.values())
TINY = ("--simulate", "tiny")


def trained(out: Path, seed: int = 3) -> bytes:
    """Train in a process of its own, as a person would."""
    pytest.importorskip("torch", reason="needs the train extra")
    done = subprocess.run(
        [sys.executable, "-m", "model", "train", *TINY, "--seed", str(seed), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "simulated test split of seed 3" in done.stdout
    assert "framework and artefact differ by" in done.stdout
    assert f"wrote {out}" in done.stdout
    return out.read_bytes()


def test_two_trainings_differ_in_their_timestamp_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnx

    one, other = (onnx.load_from_string(trained(tmp_path / f"{name}.onnx")) for name in ("a", "b"))
    same = [m.graph.SerializeToString(deterministic=True) for m in (one, other)]
    assert same[0] == same[1]
    infos = [runtime.load(tmp_path / f"{name}.onnx").info for name in ("a", "b")]
    without = [msgspec.structs.replace(info, trained_timestamp=0.0) for info in infos]
    assert without[0] == without[1]
    assert cli.main(["inspect", str(tmp_path / "a.onnx")]) == 0
    assert "bundled-simulated" in capsys.readouterr().out


def test_evaluate_replays_an_artefact_and_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs the train extra")
    report = tmp_path / "table.json"
    code = cli.main(
        [
            *("evaluate", str(cli.BUNDLED), *TINY, "--profile", "stock"),
            *("--without-rivals", "--json", str(report)),
        ]
    )
    assert code == 0
    assert f"stock visibility: {FAULTS} failures" in capsys.readouterr().out
    table = msgspec.json.decode(report.read_bytes())
    assert [line["threshold"] for line in table["lines"][:2]] == [0.05, 0.1]
    assert table["events"] == FAULTS
