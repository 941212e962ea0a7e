"""The exported file is the graph: same answers, same bytes, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from model import runtime, schema
from model.artefact import Training
from model.training.artefacts import completion, export
from model.training.fitting.pipeline import describe
from model.training.network.graph import Graph
from simulator.instruments.shown import CHANNELS, SHOWN
from tests.factories.artefact import WORTH

NAMES = list(SHOWN)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """A graph with random weights in every layer, so that no path is dead."""
    torch.manual_seed(4)
    graph = Graph(NAMES).eval()
    with torch.no_grad():
        for head in (graph.hazard.gpu, graph.hazard.node):
            head.out.normal_(std=0.5)
            head.offset.normal_()
    graph.scaling.freeze(torch.from_numpy(windows().reshape(-1, schema.WINDOW_STEPS, len(NAMES))))
    return graph.requires_grad_(False)


def blob_of(graph: Graph, **changes: float) -> bytes:
    about = describe(
        graph,
        Training(0, 1, 1, 1, 4, gpus=(8,)),
        WORTH,
        version="v",
        **({"timestamp": 1.7e9} | changes),
    )
    return export.serialise(export.export(graph), about)


@pytest.fixture(scope="module")
def path(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "graph.onnx"
    export.write(path, blob_of(graph))
    return path


def windows(moments: int = 4) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Plausible values of every channel, a third of them missing."""
    random = np.random.default_rng(9)
    low = np.array([max(c.low, -50.0) for c in CHANNELS])
    high = np.array([min(c.high, 1e6) for c in CHANNELS])
    values = random.uniform(low, high, (moments, 8, schema.WINDOW_STEPS, len(NAMES)))
    values[random.random(values.shape) < 0.3] = np.nan
    return values.astype(np.float32)


def test_framework_and_artefact_agree_on_every_output(graph: Graph, path: Path) -> None:
    """One GPU, eight, and eight with one lost; the state is carried along."""
    worst = export.check_parity(graph, runtime.load(path), windows())
    assert worst <= export.PARITY


def test_a_graph_that_differs_is_noticed(graph: Graph, path: Path) -> None:
    torch.manual_seed(5)
    with pytest.raises(export.ParityBroken, match="outputs differ by"):
        export.check_parity(Graph(NAMES).eval(), runtime.load(path), windows(1))
    del graph


def test_the_same_graph_gives_the_same_bytes(graph: Graph) -> None:
    assert blob_of(graph) == blob_of(graph)


def test_the_timestamp_is_all_that_differs_between_two_times(graph: Graph) -> None:
    one, other = (onnx.load_from_string(blob_of(graph, timestamp=t)) for t in (1.0, 2.0))
    assert one.graph.SerializeToString(deterministic=True) == other.graph.SerializeToString(
        deterministic=True
    )


def test_lstms_stay_native(path: Path) -> None:
    operators = [node.op_type for node in onnx.load(path).graph.node]
    assert operators.count("LSTM") == 2
    assert {node.domain for node in onnx.load(path).graph.node} <= {"", "ai.onnx"}


def test_nothing_of_this_machine_is_in_the_file(path: Path) -> None:
    assert str(Path(export.__file__).parent).encode() not in path.read_bytes()


def test_a_site_may_set_its_own_base_rate(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    tensor = next(t for t in model.graph.initializer if t.name == export.BASE_RATE)
    raised = numpy_helper.to_array(tensor) + np.float32(np.log(2.0))
    tensor.CopyFrom(numpy_helper.from_array(raised, export.BASE_RATE))
    (tmp_path / "site.onnx").write_bytes(model.SerializeToString())
    before, after = runtime.load(path), runtime.load(tmp_path / "site.onnx")
    empty = np.full((8, schema.WINDOW_STEPS, len(NAMES)), np.nan, np.float32)
    first = before.predict(empty, before.initial_state(8)).node
    second = after.predict(empty, after.initial_state(8)).node
    np.testing.assert_allclose(-np.log1p(-second), -2 * np.log1p(-first), rtol=1e-3)


def test_an_artefact_without_ranges_is_completed_and_answers_as_before(
    graph: Graph, path: Path, tmp_path: Path
) -> None:
    whole, old = runtime.load(path), tmp_path / "old.onnx"
    uncounted = msgspec.structs.replace(whole.info.training, gpus=())
    before = msgspec.structs.replace(whole.info, training_ranges={}, training=uncounted)
    export.write(old, export.serialise(onnx.load(path), before))
    assert completion.complete(old)
    assert runtime.load(old).info == whole.info
    assert onnx.load(old).graph == onnx.load(path).graph
    assert not completion.complete(old)


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "fleet.onnx"
    export.write(path, b"old")
    with pytest.raises(TypeError):
        export.write(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["fleet.onnx"]
