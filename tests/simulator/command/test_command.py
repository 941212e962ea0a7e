"""The command line: what it prints, what it refuses, what it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from daemon.clocks import Clock
from simulator.cli import command_line, fleet_of, run
from simulator.faults import EVERY
from simulator.history import record

if TYPE_CHECKING:
    from pathlib import Path


def test_scenarios_lists_faults_and_lookalikes_with_a_story_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(EVERY)
    assert any(
        line.startswith("coolant-loss") and "fault, facility, gradual" in line for line in lines
    )
    assert any(line.startswith("off-bus ") and "fault, device, sudden" in line for line in lines)
    assert sum("look-alike" in line for line in lines) == sum(
        story.lookalike for story in EVERY.values()
    )


def test_help_teaches_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(["--help"])
    assert end.value.code == 0
    assert "forewarn-simulator serve --nodes 6" in capsys.readouterr().out


def test_a_training_set_holds_histories_and_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "set.npz"
    chosen = ["--scenario", "healthy", "--scenario", "coolant-loss"]
    assert run(["record", "--out", str(path), *chosen, "--days", "0.05", "--gpus", "2"]) == 0
    assert "4 histories of 72 steps" in capsys.readouterr().out
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["values"].shape[:3] == (4, 2, 72)
        assert list(arrays["cause"]) == ["", "", "facility", "facility"]
        assert np.isnan(arrays["failure_seconds"][:2]).all()
        assert list(arrays["failure_gpu"]) == [-1, -1, -1, -1]
        again = record(
            "coolant-loss",
            node=str(arrays["node"][2]),
            seed=int(arrays["seed"][2]),
            steps=72,
            gpus=2,
        )
        np.testing.assert_array_equal(arrays["values"][2], again.values)
        assert len(set(arrays["seed"])) == 4
        assert list(arrays["pace"]) == ["", "", "gradual", "gradual"]
        assert np.isnan(arrays["severity"][:2]).all()
        assert ((arrays["severity"][2:] >= 0.5) & (arrays["severity"][2:] <= 1.0)).all()
        ends = arrays["onset_seconds"][2:] + arrays["duration_seconds"][2:]
        np.testing.assert_allclose(ends, arrays["failure_seconds"][2:])
        assert np.isnan(arrays["mended_seconds"]).all()
    assert list(tmp_path.iterdir()) == [path]


def test_a_set_of_mended_faults_has_no_failure_and_says_when_each_was_mended(
    tmp_path: Path,
) -> None:
    path = tmp_path / "set.npz"
    chosen = ["--scenario", "node-reboot", "--scenario", "vrm-sag", "--mended", "0.4"]
    short = ["--days", "0.05", "--gpus", "2", "--each", "1"]
    assert run(["record", "--out", str(path), *chosen, *short]) == 0
    with np.load(path, allow_pickle=False) as arrays:
        assert np.isnan(arrays["failure_seconds"]).all()
        assert list(arrays["cause"]) == ["", ""]
        assert np.isnan(arrays["mended_seconds"][0])
        expected = arrays["onset_seconds"][1] + 0.4 * arrays["duration_seconds"][1]
        assert arrays["mended_seconds"][1] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["serve", "--scenario", "melting"], "scenario 'melting': expected one of"),
        (["serve", "--nodes", "2", "--node", "5"], "node 5: expected 0 to 1"),
        (["serve", "--gpu", "9", "--scenario", "memory-storm"], "--gpu 9: expected 0 to 7"),
        (["serve", "--mended", "0.5"], "--mended mends a fault: expected --scenario beside it"),
        (
            ["serve", "--mended", "0.5", "--scenario", "node-reboot"],
            "scenario 'node-reboot': expected a fault where one is to be mended",
        ),
        (["serve", "--bmc-password-file", "/nowhere/secret"], "/nowhere/secret"),
        (["record", "--out", "/nowhere/x.npz", "--days", "0.01"], "no such folder: /nowhere"),
        (["record", "--out", "/", "--days", "0.01"], "--out / is a folder, expected a file"),
    ],
)
def test_wrong_input_is_one_line_and_status_two(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--prefill-seconds", "60"] if arguments[0] == "serve" else []
    assert run(arguments + short) == 2
    complaint = capsys.readouterr().err
    assert expected in complaint
    assert complaint.count("\n") == 1


def test_a_fault_begins_after_the_start_and_not_in_the_prefilled_past() -> None:
    options = command_line().parse_args(
        ["serve", "--scenario", "memory-storm", "--node", "1", "--prefill-seconds", "600"]
    )
    fleet = fleet_of(options, Clock(wall=lambda: 0.0, monotonic=lambda: 0.0))
    struck = fleet.plan[1].scenario
    assert (struck.onset_seconds, struck.end_seconds) == (1_200.0, 15_600.0)
    assert fleet.plan[0].scenario.kind == "healthy"
    assert fleet.now_seconds() == 600.0


def test_a_served_fault_is_mended_at_a_share_of_its_way() -> None:
    options = command_line().parse_args(
        ["serve", "--scenario", "slow-leak", "--mended", "0.5", "--prefill-seconds", "60"]
    )
    fleet = fleet_of(options, Clock(wall=lambda: 0.0, monotonic=lambda: 0.0))
    assert fleet.plan[0].scenario.mended_seconds == 60.0 + 600.0 + 7_200.0
