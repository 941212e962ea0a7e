"""The command says what an artefact is, and what is wrong with one, without PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from model import cli
from model.cli import BUNDLED
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path

RATE = ("--failures-per-node-week", "0.1")


def test_inspect_tells_where_an_artefact_is_from_and_what_it_was_worth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["inspect", str(artefact.write(tmp_path / "a.onnx"))]) == 0
    out = capsys.readouterr().out
    assert "provenance   fleet: trained on the history of many nodes of a site" in out
    assert "trained      2023-11-14 22:13 UTC, seed 7" in out
    assert "history      from 2020-09-13 12:26 UTC to 2023-11-14 22:13 UTC" in out
    assert "event recall                 0.500 of 4 failures" in out
    assert "precision                    0.500 where 0.200 failures come in a node-week" in out
    assert "at least 0.120 where 0.027 do, as in the field" in out
    assert "0.1000 per node-week, at most 0.2000 (95 %)" in out
    assert "required  gpu_temperature_celsius" in out
    assert "optional  node_power_watts" in out


def test_inspect_tells_the_range_of_a_channel_in_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranges = {"node_power_watts": (500.0, 3_000.0)}
    cli.main(["inspect", str(artefact.write(tmp_path / "a.onnx", training_ranges=ranges))])
    assert "training range 500 to 3000" in capsys.readouterr().out


def test_inspect_prints_the_metadata_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["inspect", "--json", str(artefact.write(tmp_path / "a.onnx"))]) == 0
    assert json.loads(capsys.readouterr().out)["evaluation"]["event_recall"] == 0.5


def test_a_refused_artefact_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.onnx"
    path.write_text("no model")
    assert cli.main(["inspect", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"forewarn-model: not_onnx: {path}")
    assert error.count("\n") == 1


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    assert "forewarn-model train --simulate bundled" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["evaluate", "leave-each-out"])
def test_help_of_what_judges_says_what_it_does_and_shows_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main([command, "--help"])
    told = capsys.readouterr().out
    assert "simulated" in told.partition("options:")[0]
    assert f"  forewarn-model {command} " in told.partition("example")[2]


def test_training_without_its_extra_names_the_extra(tmp_path: Path) -> None:
    """A child that cannot find PyTorch, as on a node."""
    program = (
        "import sys\n"
        "for name in ('torch', 'onnx', 'rich'): sys.modules[name] = None\n"
        "from model.cli import main\n"
        f"sys.exit(main(['train', '--simulate', 'tiny', '--out', {str(tmp_path / 'x.onnx')!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "train needs the extra 'train'" in done.stderr
    assert "run `make .venv/.train` in this clone" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.onnx").exists()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["train", "--simulate", "tiny", "--out", "{}"], "--out {} is a folder, expected a file"),
        (["train", "--simulate", "tiny", "--out", "{}/a/x.onnx"], "no such folder: {}/a"),
        (["train", "--prometheus", "http://a", "--work", "{}", "--out", "{}/a/b"], "folder: {}/a"),
        (["rebase", str(BUNDLED), *RATE, "--out", "{}/a/x.onnx"], "no such folder: {}/a"),
        (["evaluate", str(BUNDLED), "--html", "{}"], "--html {} is a folder, expected a file"),
        (["leave-each-out", "--json", "{}/a/b"], "--json {}/a/b: no such folder: {}/a"),
    ],
)
def test_where_nothing_can_be_written_is_said_before_anything_is_worked_on(
    line: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([word.format(tmp_path) for word in line]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"forewarn-model: {line[0]}: --")
    assert expected.replace("{}", str(tmp_path)) in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["train", "--out", "x", "--work", "w"], ("give the same line again to go on",)),
        (["train", "--out", "x", "--simulate", "tiny"], ()),
        (["evaluate", "x"], ()),
    ],
)
def test_who_stops_what_keeps_its_work_is_told_how_to_go_on(
    line: list[str], said: tuple[str, ...]
) -> None:
    assert cli.how_to_go_on(cli.parser().parse_args(line)) == said


def test_inspecting_imports_nothing_of_the_training_half(tmp_path: Path) -> None:
    path = artefact.write(tmp_path / "a.onnx")
    program = (
        "import sys\n"
        "from model.cli import main\n"
        f"main(['inspect', {str(path)!r}])\n"
        "found = [n for n in sys.modules if n.partition('.')[0] in ('torch', 'onnx', 'simulator')"
        " or n.startswith('model.training')]\n"
        "sys.exit(' '.join(found) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.scenario
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "model", "inspect"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, said = process.communicate()
    assert (process.returncode, said) == (0, b"")
