"""A site's own rate of failures: counted, weighed against the field, written and told."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from model import cli, runtime, schema
from model.cli import BUNDLED
from model.history.failures import Failure, Sign
from model.history.timeline import Stretch, Timeline
from model.schema import Cause
from model.training.artefacts import weights
from model.training.fitting import base_rate
from model.training.fitting.base_rate import Seen
from model.training.network.graph import Graph
from model.training.network.hazard import BASE_FAILURES_PER_NODE_WEEK, SHARES
from simulator.instruments.shown import SHOWN
from tests.factories.history import at

WEEK = 7 * 24 * 60
FIELD = base_rate.divided(BASE_FAILURES_PER_NODE_WEEK, {})


def past(node: str, weeks: int, *failed: float) -> Timeline:
    """A node watched for some weeks, one of whose memories failed after so many."""
    ends = [
        Stretch(at(week * WEEK), at((week + 1) * WEEK), _failure(week, failed))
        for week in range(weeks)
    ]
    return Timeline(node, tuple(ends), Counter())


def _failure(week: int, failed: tuple[float, ...]) -> Failure | None:
    times = [at(one * WEEK) for one in failed if week <= one < week + 1]
    return Failure(times[0], "A", Cause.MEMORY, Sign.XID) if times else None


def hazards(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """What an artefact expects of a node of which it sees nothing."""
    predictor = runtime.load(path)
    shape = (8, schema.WINDOW_STEPS, len(predictor.info.names))
    told = predictor.predict(np.full(shape, np.nan, np.float32), predictor.initial_state(8))
    return -np.log1p(-told.node.astype(np.float64))


def test_a_site_that_has_seen_nothing_has_the_fields_rate() -> None:
    assert base_rate.learned(Seen({}, 0.0)) == pytest.approx(FIELD)


def test_few_weeks_move_the_rate_little_and_many_make_it_the_sites_own() -> None:
    quiet = base_rate.learned(Seen({}, 4.0))
    assert 0.85 < sum(quiet.values()) / BASE_FAILURES_PER_NODE_WEEK < 1.0
    often = base_rate.learned(Seen({Cause.MEMORY: 200.0}, 2_000.0))
    assert sum(often.values()) == pytest.approx(0.1, rel=0.02)
    assert often[Cause.MEMORY] / sum(often.values()) > 0.95
    assert all(rate > 0 for rate in often.values()), "absence is not safety"


def test_the_shares_of_a_given_rate_are_the_fields_where_none_is_given() -> None:
    rates = base_rate.divided(0.1, {Cause.MEMORY: 0.5})
    assert sum(rates.values()) == pytest.approx(0.1)
    assert rates[Cause.MEMORY] == pytest.approx(0.05)
    others = rates[Cause.DEVICE] / rates[Cause.POWER]
    assert others == pytest.approx(SHARES[Cause.DEVICE] / SHARES[Cause.POWER])


def test_what_is_told_is_what_the_graph_holds() -> None:
    told = base_rate.told(base_rate.logs(FIELD), "somewhere")
    assert told.per_node_week == pytest.approx(FIELD, rel=1e-5)
    assert told.total == pytest.approx(BASE_FAILURES_PER_NODE_WEEK, rel=1e-5)
    assert torch.allclose(base_rate.logs(FIELD), Graph(list(SHOWN)).hazard.base_rate_log)


def test_nodes_that_training_looks_at_first_weigh_as_many_as_the_site_has() -> None:
    looked_at = [past("bad", 4, 2.5), past("good", 4)]
    seen = base_rate.count(looked_at, math.inf, nodes=100, struck={"bad"})
    assert seen.node_weeks == pytest.approx(8.0)
    assert seen.failures[Cause.MEMORY] / seen.node_weeks == pytest.approx(0.25 * 1 / 100)
    all_of_them = base_rate.count(looked_at, math.inf, nodes=2, struck=set())
    assert all_of_them.failures == {Cause.MEMORY: 1.0}


def test_the_time_that_a_model_is_judged_on_does_not_set_its_rate() -> None:
    seen = base_rate.count([past("n", 4, 3.5)], at(3 * WEEK), nodes=1, struck=set())
    assert seen == Seen({}, 3.0)


def test_an_artefact_set_anew_multiplies_every_hazard_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, twice = tmp_path / "fleet.onnx", 2 * BASE_FAILURES_PER_NODE_WEEK
    shutil.copy(BUNDLED, path)
    assert cli.main(["rebase", str(path), "--failures-per-node-week", str(twice)]) == 0
    np.testing.assert_allclose(hazards(path), 2 * hazards(BUNDLED), rtol=1e-3)
    before, after = runtime.load(BUNDLED).info, runtime.load(path).info
    assert (after.version, after.evaluation) == (before.version, before.evaluation)
    assert cli.main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert "base rate    0.054 failures per node-week, by hand" in out
    assert "set later than what follows was measured" in out


def test_the_weights_beside_it_are_set_too_so_that_nodes_start_from_them(tmp_path: Path) -> None:
    path, out = tmp_path / "fleet.onnx", tmp_path / "site.onnx"
    shutil.copy(BUNDLED, path)
    names, version = runtime.load(path).info.names, runtime.load(path).info.version
    weights.save(weights.beside(path), Graph(names), version)
    cli.main(["rebase", str(path), "--failures-per-node-week", "0.1", "--out", str(out)])
    held = weights.load(weights.beside(out), version).hazard.base_rate_log
    assert float(torch.exp(held).sum() * 168) == pytest.approx(0.1, rel=1e-5)
    assert path.read_bytes() == BUNDLED.read_bytes()


def test_one_bad_file_among_several_leaves_all_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "a.onnx", tmp_path / "b.onnx"
    shutil.copy(BUNDLED, good)
    shutil.copy(BUNDLED, bad)
    weights.beside(bad).write_bytes(b"no weights")
    with pytest.raises(SystemExit, match=r"b\.weights\.npz: not the weights of a model"):
        cli.main(["rebase", str(good), str(bad), "--failures-per-node-week", "0.1"])
    bad.write_bytes(b"no model")
    assert cli.main(["rebase", str(good), str(bad), "--failures-per-node-week", "0.1"]) == 1
    assert "forewarn-model: not_onnx" in capsys.readouterr().err
    assert good.read_bytes() == BUNDLED.read_bytes()


def test_the_rate_of_a_backtest_is_taken_from_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "site.json"
    numbers = {"failures": {"memory": 9, "power": 1}, "node_weeks": 163.0}
    empty: dict[str, object] = dict.fromkeys(("data", "headline_horizon"), "")
    rates = ("quiet_node_weeks", "exposed_node_weeks", "field_failures_per_node_week")
    empty |= dict.fromkeys((*rates, "headline_threshold", "events"), 0)
    lists = ("horizons", "budgets", "lines", "kinds", "paces", "calibration", "curves", "rivals")
    empty |= dict.fromkeys((*lists, "examples"), ())
    table.write_text(json.dumps(empty | numbers))
    out = tmp_path / "site.onnx"
    cli.main(["rebase", str(BUNDLED), "--backtest", str(table), "--out", str(out)])
    said = "0.05499 failures per node-week, by 10 failures in 163 node-weeks of the site"
    assert said in capsys.readouterr().out
    rate = runtime.load(out).info.base_rate
    assert rate is not None
    assert rate.per_node_week["memory"] > 0.5 * rate.total


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--failures-per-node-week", "1", "--share", "luck=1"], "expected CAUSE=SHARE"),
        (["--failures-per-node-week", "1", "--share", "memory=1.2"], "leave something"),
        (["--backtest", "x.json", "--share", "memory=1"], "--share goes with"),
    ],
)
def test_a_rate_that_cannot_be_meant_is_one_line_and_writes_nothing(
    tmp_path: Path, line: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["rebase", str(BUNDLED), "--out", str(tmp_path / "x.onnx"), *line]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_what_is_no_backtest_sets_no_rate(tmp_path: Path) -> None:
    line = ["rebase", str(BUNDLED), "--out", str(tmp_path / "x.onnx"), "--backtest", __file__]
    with pytest.raises(SystemExit, match="not the JSON of a backtest"):
        cli.main(line)
    assert not list(tmp_path.iterdir())
