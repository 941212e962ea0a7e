"""No command takes a number of which it can make nothing: each is refused before any work."""

from __future__ import annotations

import shlex

import pytest

from model.cli import main as model
from simulator.__main__ import main as simulator
from tests.contracts.catalogues import ROOT

COMMANDS = {"forewarn-model": model, "forewarn-simulator": simulator}
SITE = "--prometheus http://a:9090 --work w"
BAD = {
    "train --simulate tiny --out x.onnx": ("--seed -1",),
    f"train --out x {SITE}": ("--days nan", "--days inf", "--days 1e12", "--days 40000"),
    f"plan {SITE}": (
        "--shards 0",
        "--shards -4",
        "--fleet-nodes 0",
        "--fleet-nodes -1",
        "--seed -1",
    ),
    f"backtest x.onnx {SITE}": ("--days -1",),
    "evaluate x.onnx": ("--seed -1", "--quiet-node-weeks 0"),
    "leave-each-out": ("--seed -1",),
    "rebase x.onnx": ("--failures-per-node-week nan",),
    "record --out x.npz": ("--seed -1", "--days nan", "--each 0", "--field 0", "--gpus -1"),
    "serve": ("--speed nan", "--speed 0", "--step-seconds 0", "--first-port 70000", "--seed -1"),
    "demo": ("--scale nan", "--seed -1", "--nodes 0"),
}
OF_THE_SIMULATOR = ("record", "serve", "demo")


@pytest.mark.parametrize("line", BAD)
def test_a_number_out_of_bounds_is_refused_by_its_flag(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "forewarn-simulator" if line.startswith(OF_THE_SIMULATOR) else "forewarn-model"
    for bad in BAD[line]:
        with pytest.raises(SystemExit) as ended:
            COMMANDS[command](shlex.split(f"{line} {bad}"))
        assert ended.value.code == 2, bad
        flag, value = bad.split()
        assert f"argument {flag}: '{value}': expected a" in capsys.readouterr().err


@pytest.mark.parametrize("room", ["model", "simulator", "benchmarks"])
def test_no_flag_takes_any_number_whatever(room: str) -> None:
    unbounded = [
        path.name
        for path in (ROOT / room).rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("type=int", "type=float"))
    ]
    assert unbounded == []
