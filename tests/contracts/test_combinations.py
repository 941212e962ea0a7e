"""A flag that nobody would read is refused in one line, whatever else is on the command line."""

from __future__ import annotations

import shlex

import pytest

from model.cli import main as model
from simulator.__main__ import main as simulator

SIMULATED = "train --simulate tiny --out x.onnx"
PLANNED = "train --work w --out models"
SITE = f"{PLANNED} --prometheus http://a:9090"
OF_A_SITE = "goes with --prometheus or --work only"
OF_THE_PLAN = "the plan in --work says it; expected --prometheus"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{SIMULATED} --only nodes --shard 3", f"--only, --shard: {OF_A_SITE}"),
        (f"{SIMULATED} --shards 2 --fleet-nodes 3", f"--shards, --fleet-nodes: {OF_A_SITE}"),
        (f"{SIMULATED} --incidents list.csv", f"--incidents: {OF_A_SITE}"),
        (f"{SIMULATED} --days 3 --tenant a", f"--days, --tenant: {OF_A_SITE}"),
        (f"{PLANNED} --days 3 --match a=b", f"--match, --days: {OF_THE_PLAN}"),
        (f"{PLANNED} --shards 3", f"--shards: {OF_THE_PLAN}"),
        (f"{SITE} --leave-out xid", "--leave-out: goes with --simulate SIZE and no site only"),
        (f"{SITE} --only fleet --shard 1", "--shard: shares are of nodes; expected none with"),
        (
            "evaluate x.onnx --quiet-node-weeks 5 --html page.html",
            "--html: --quiet-node-weeks has neither page nor rivals",
        ),
        ("evaluate x.onnx --quiet-node-weeks 5 --without-rivals", "--without-rivals: --quiet-"),
    ],
)
def test_training_and_judging_refuse_what_they_would_not_read(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert model(shlex.split(line)) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"forewarn-model: {line.split(maxsplit=1)[0]}: {said}")
    assert complaint.count("\n") == 1


def test_recorded_trees_are_served_in_place_of_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulator(["serve", "--tree", "x", "--nodes", "3", "--scenario", "xid"]) == 2
    assert capsys.readouterr().err == (
        "forewarn-simulator: --nodes, --scenario: --tree serves recordings in place of nodes\n"
    )
