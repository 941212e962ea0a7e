"""R37: a node's own model, tuned on a month in which four channels never moved, stays calm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from exporter.forecast import drift
from model import runtime
from model.cli import BUNDLED
from simulator.history import record
from simulator.scenario import Scenario
from tests.factories import artefact
from tests.factories.levels import alert_levels
from tests.model.bundled.replaying import DAY, inputs

if TYPE_CHECKING:
    from model.runtime import Predictor

pytestmark = pytest.mark.training

LIMIT, ERRORS = "gpu_power_limit_watts", "gpu_memory_correctable_errors_total"
INLET, MEMORY = "node_inlet_temperature_celsius", "gpu_memory_temperature_celsius"
LIVE = {LIMIT: 690.0, ERRORS: 1.0, INLET: 25.0, MEMORY: 71.0}
STEPS, LENGTH = 600, 64
ALERT = alert_levels()["warning"]["24h"]
"""The lowest probability within 24 h that is an alert."""


def month(names: tuple[str, ...], *, seed: int, steps: int = STEPS) -> np.ndarray:
    """Return [gpu, step, channel] of a node whose four channels stand still, as the report has it.

    As many rows differ in the inlet as of a month: three.
    """
    values = inputs(record(Scenario(), node="still", seed=seed, steps=steps), names)
    place = names.index
    values[:, :, place(LIMIT)] = 700.0
    values[:, :, place(ERRORS)] = 0.0
    values[:, :, place(INLET)] = 24.0
    values[:, [100, 250, 400], place(INLET)] = 25.0
    values[:, :, place(MEMORY)] = np.nan
    return values


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    """The shipped model's weights, tuned on the month as `forewarn-model train` tunes a node's."""
    torch = pytest.importorskip("torch", reason="needs the train extra")
    from model.artefact import Training
    from model.training.artefacts import export
    from model.training.fitting import finetune
    from model.training.fitting.pipeline import describe

    fleet = shipped()
    still = torch.from_numpy(month(tuple(fleet.names), seed=37))
    ends = [torch.arange(start, STEPS, 40) for start in (64, 84)]
    windows = finetune.Windows(
        *(torch.stack([still[:, end - LENGTH : end] for end in half]) for half in ends)
    )
    graph = finetune.tune(fleet, windows, finetune.Tuning(iterations=12, batch=16), 7)
    assert all(torch.isfinite(value).all() for value in graph.state_dict().values())
    about = describe(
        graph, Training(0, 1, 1, 1, 7), artefact.WORTH, version="still", timestamp=1.7e9
    )
    path = tmp_path_factory.mktemp("r37") / "still.onnx"
    export.write(path, export.serialise(export.export(graph), about))
    return runtime.load(path)


def shipped():
    """Return the graph whose weights the shipped artefact carries."""
    import onnx
    import torch
    from onnx import numpy_helper

    from model.training.artefacts.export import BASE_RATE
    from model.training.network.graph import Graph

    graph = Graph(list(runtime.load(BUNDLED).info.names)).eval()
    constants = {
        tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy())
        for tensor in onnx.load(BUNDLED).graph.initializer
    }
    constants[f"hazard.{BASE_RATE}"] = constants.pop(BASE_RATE)
    unused = graph.load_state_dict(constants, strict=False)
    assert not unused.unexpected_keys
    # What follows from the channels alone is not in the file.
    assert set(unused.missing_keys) == {"scaling.floor", "hazard.gpu.past", "hazard.node.past"}
    return graph


@pytest.mark.parametrize("channels", [(name,) for name in LIVE] + [tuple(LIVE)], ids="-".join)
def test_r37_what_moves_for_the_first_time_alerts_nobody(
    own: Predictor, channels: tuple[str, ...]
) -> None:
    names = own.info.names
    values = month(names, seed=37, steps=STEPS)[:, -90:]
    for name in channels:
        struck = slice(None) if name == INLET else 2
        values[struck, -4 if name != ERRORS else -1 :, names.index(name)] = LIVE[name]
    state = own.initial_state(8)
    for end in range(LENGTH, 91):
        said = own.predict(np.ascontiguousarray(values[:, end - LENGTH : end]), state)
        state = said.state
        assert said.node[DAY] < ALERT
        for output in (said.node, said.cause, said.gpu, said.score, said.contribution):
            assert np.isfinite(output).all()


def test_r37_drift_speaks_of_what_was_never_seen_and_not_of_one_quantum() -> None:
    """A fleet that is that month: what the channels' floors are, and no sensor in training."""
    torch = pytest.importorskip("torch", reason="needs the train extra")
    from model.training.network.scaling import Scaling

    names = runtime.load(BUNDLED).info.names
    scaling = Scaling(names)
    scaling.freeze(torch.from_numpy(month(names, seed=37)))
    ranges = scaling.ranges()
    info = artefact.info(names, training_ranges=ranges)
    row = month(names, seed=37)[:, -1, [names.index(name) for name in ranges]].astype(np.float64)
    usual = drift.cold(info).after(row, info)
    for name in LIVE.keys() & ranges.keys():
        row[:, list(ranges).index(name)] = LIVE[name]
    told = drift.cold(info).after(row, info)
    assert dict(told.by_channel(info)) == {**usual.by_channel(info), MEMORY: 1.0}
    assert told.ratio > usual.ratio
