"""A node's own model is the fleet's, moved as far as its own past supports."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from model.training.artefacts import weights
from model.training.episodes.dataset import episode
from model.training.fitting import finetune
from model.training.fitting.finetune import Kept, Tuning, Windows
from model.training.network.graph import Graph
from simulator.history import record
from simulator.instruments.shown import SHOWN
from tests.factories.levels import alert_levels

TUNING = Tuning(iterations=12, batch=16)
MEMORY = SHOWN.index("gpu_memory_temperature_celsius")


@pytest.fixture(scope="module")
def windows() -> Windows:
    whole = episode(record("healthy", node="n", seed=5, steps=420, gpus=2))
    whole.readings[:, :, MEMORY] = np.nan
    return Windows(*(finetune.sample([whole], 420, 24, seed) for seed in (1, 2)))


@pytest.fixture(scope="module")
def fleet(windows: Windows) -> Graph:
    torch.manual_seed(3)
    graph = Graph(list(SHOWN)).eval()
    other = episode(record("healthy", node="other", seed=9, steps=420, gpus=2))
    graph.scaling.freeze(finetune.sample([other], 420, 24, 3).flatten(0, 1))
    with torch.no_grad():
        view = graph.scaling(windows.fit)
        graph.scorer.freeze(graph.raw(view))
        graph.gather.freeze(view)
    return graph


def test_tuning_rebuilds_the_node_better_and_leaves_the_fleets_model_alone(
    fleet: Graph, windows: Windows
) -> None:
    before = copy.deepcopy(fleet.state_dict())
    own = finetune.tune(fleet, windows, TUNING, 7)
    assert finetune.rebuilding_error(own, windows.held) < finetune.rebuilding_error(
        fleet, windows.held
    )
    assert all(torch.equal(value, before[name]) for name, value in fleet.state_dict().items())


def test_meaning_and_worth_of_evidence_stay_the_fleets(fleet: Graph, windows: Windows) -> None:
    own = finetune.tune(fleet, windows, TUNING, 7)
    for name in ("scaling", "hazard", "memory"):
        mine, theirs = getattr(own, name).state_dict(), getattr(fleet, name).state_dict()
        assert all(torch.equal(mine[key], theirs[key]) for key in theirs)


def test_constants_are_the_nodes_but_never_much_narrower_and_never_of_the_unseen(
    fleet: Graph, windows: Windows
) -> None:
    own = finetune.tune(fleet, windows, TUNING, 7).scorer
    for name in ("residual", "error"):
        mine, theirs = (getattr(one, f"{name}_spread") for one in (own, fleet.scorer))
        assert (mine >= finetune.NARROWEST * theirs - 1e-6).all()
        assert torch.equal(mine[MEMORY], theirs[MEMORY])
    assert not torch.equal(own.error_mean, fleet.scorer.error_mean)


def test_typical_time_of_the_node_scores_one(fleet: Graph, windows: Windows) -> None:
    own = finetune.tune(fleet, windows, TUNING, 7)
    with torch.no_grad():
        scores, _ = own.observe(windows.held)
    assert float(scores.score.mean()) == pytest.approx(1.0, abs=1e-3)


def test_the_same_seed_gives_the_same_weights(fleet: Graph, windows: Windows) -> None:
    one, other = (finetune.tune(fleet, windows, TUNING, 7).state_dict() for _ in "ab")
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_tuning_that_rebuilds_worse_is_refused(fleet: Graph, windows: Windows) -> None:
    astray = Windows(windows.fit * 0.0, windows.held)
    with pytest.raises(Kept, match="rebuild held-out time worse"):
        finetune.tune(fleet, astray, Tuning(iterations=40, batch=16, learning_rate=0.05), 7)


@pytest.mark.parametrize(
    ("of_fleet", "tuned", "kept"),
    [(0.01, 0.06, True), (0.01, 0.05, False), (0.3, 0.06, False), (0.3, 0.31, True)],
)
def test_a_tuned_model_that_alarms_in_quiet_time_is_refused_unless_the_fleets_does(
    fleet: Graph,
    windows: Windows,
    monkeypatch: pytest.MonkeyPatch,
    of_fleet: float,
    tuned: float,
    kept: bool,
) -> None:
    """What either says there is given: a fit of seconds alarms nowhere."""

    def said(graph: Graph, held: torch.Tensor) -> float:
        assert held is windows.held
        return of_fleet if graph is fleet else tuned

    monkeypatch.setattr(finetune, "_highest", said)
    if kept:
        with pytest.raises(Kept, match=f"alarms in quiet time .*{tuned:.2f}, fleet {of_fleet:.2f}"):
            finetune.tune(fleet, windows, TUNING, 7)
    else:
        assert finetune.tune(fleet, windows, TUNING, 7) is not fleet


def test_the_highest_probability_is_that_of_the_worst_window(
    fleet: Graph, windows: Windows
) -> None:
    each = [finetune._highest(fleet, one[None]) for one in windows.held]
    assert finetune._highest(fleet, windows.held) == max(each) > 0.0


def test_weights_come_back_as_they_were_and_only_for_their_own_artefact(
    fleet: Graph, tmp_path
) -> None:
    path = weights.beside(tmp_path / "fleet.onnx")
    weights.save(path, fleet, "v1")
    again = weights.load(path, "v1").state_dict()
    assert all(torch.equal(value, again[name]) for name, value in fleet.state_dict().items())
    with pytest.raises(weights.WeightsRefused, match="weights of model v1, expected those of v2"):
        weights.load(path, "v2")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(weights.WeightsRefused, match="not the weights of a model"):
        weights.load(path, "v1")


def test_a_tuned_model_is_refused_for_what_would_be_a_warning() -> None:
    assert alert_levels()["warning"]["24h"] == finetune.ALARM
