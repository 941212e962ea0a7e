"""An artefact that breaks a promise is refused with its reason, before it predicts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from model import runtime
from model.artefact import METADATA_KEY
from model.runtime import ModelRefused, Refusal
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def refused(path: Path) -> ModelRefused:
    with pytest.raises(ModelRefused) as caught:
        runtime.load(path)
    return caught.value


def spoilt(path: Path, change: Callable[[Any], None]) -> Path:
    """Write a good artefact, and change its protobuf."""
    model = onnx.load(artefact.write(path))
    change(model)
    path.write_bytes(model.SerializeToString())
    return path


def test_a_good_artefact_is_loaded(tmp_path: Path) -> None:
    predictor = runtime.load(artefact.write(tmp_path / "good.onnx"))
    assert predictor.info.names == artefact.NAMES


def test_a_runtime_that_cannot_be_imported_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = artefact.write(tmp_path / "good.onnx")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as if it were not installed
    error = refused(path)
    assert error.reason is Refusal.RUNTIME
    assert error.detail.startswith("onnxruntime cannot be used: ModuleNotFoundError: ")


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    error = refused(tmp_path / "absent.onnx")
    assert error.reason is Refusal.UNREADABLE
    assert "No such file" in error.detail


def test_a_huge_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(runtime.ARTEFACT_BYTES_LIMIT + 1)
    assert refused(path).reason is Refusal.UNREADABLE


@pytest.mark.parametrize(
    "body", [b"", b"not a model", b"\x08\x09" * 40], ids=["empty", "text", "junk"]
)
def test_what_is_no_onnx_is_refused(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "junk.onnx"
    path.write_bytes(body)
    assert refused(path).reason is Refusal.NOT_ONNX


def test_a_truncated_artefact_is_refused(tmp_path: Path) -> None:
    path = artefact.write(tmp_path / "cut.onnx")
    path.write_bytes(path.read_bytes()[:-200])
    assert refused(path).reason in {Refusal.NOT_ONNX, Refusal.METADATA}


def test_an_unknown_operator_is_refused(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        model.graph.node[0].op_type = "Shell"

    assert refused(spoilt(tmp_path / "op.onnx", change)).reason is Refusal.NOT_ONNX


def test_data_outside_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even from the folder of the data: an artefact is whole in one file."""
    path = artefact.write(tmp_path / "outside.onnx")
    onnx.save(
        onnx.load(path), path, save_as_external_data=True, location="weights", size_threshold=0
    )
    assert (tmp_path / "weights").stat().st_size
    monkeypatch.chdir(tmp_path)
    assert refused(path).reason is Refusal.NOT_ONNX


def test_a_foreign_model_has_no_metadata(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        del model.metadata_props[:]

    error = refused(spoilt(tmp_path / "foreign.onnx", change))
    assert error.reason is Refusal.METADATA
    assert METADATA_KEY in error.detail


@pytest.mark.parametrize(
    "text",
    ["{", "{}", '{"schema_version": "one"}'],
    ids=["broken", "empty", "wrong type"],
)
def test_metadata_that_does_not_decode_is_refused(tmp_path: Path, text: str) -> None:
    def change(model: Any) -> None:
        model.metadata_props[0].value = text

    assert refused(spoilt(tmp_path / "m.onnx", change)).reason is Refusal.METADATA


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema_version": 99}, Refusal.FINGERPRINT),
        ({"schema_fingerprint": "0" * 16}, Refusal.FINGERPRINT),
        ({"horizons": ("1h", "6h")}, Refusal.METADATA),
        ({"causes": ("bad luck",)}, Refusal.METADATA),
        ({"window_steps": 0}, Refusal.METADATA),
        ({"provenance": "elsewhere"}, Refusal.METADATA),
        ({"training_ranges": {"gpu_power_watts": (9.0, 1.0)}}, Refusal.METADATA),
        ({"training_ranges": {"gpu_utilization_ratio": (0.0, 1.0)}}, Refusal.METADATA),
        ({"unseen": ("gpu_utilization_ratio",)}, Refusal.METADATA),
        ({"unseen": ("gpu_temperature_celsius",)}, Refusal.METADATA),
        (
            {"base_rate": {"per_node_week": {"memory": 0.0}, "origin": "x"}},
            Refusal.METADATA,
        ),
        (
            {"base_rate": {"per_node_week": {"bad luck": 0.1}, "origin": "x"}},
            Refusal.METADATA,
        ),
        ({"state_width": 2}, Refusal.SHAPE),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value),
)
def test_metadata_that_contradicts_is_refused(
    tmp_path: Path, changes: dict[str, Any], reason: Refusal
) -> None:
    path = artefact.write(tmp_path / "good.onnx")

    def change(model: Any) -> None:
        import msgspec

        about = msgspec.to_builtins(artefact.info()) | changes
        model.metadata_props[0].value = msgspec.json.encode(about).decode()

    assert refused(spoilt(path, change)).reason is reason


def test_a_channel_in_another_unit_is_refused(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        text = model.metadata_props[0].value
        model.metadata_props[0].value = text.replace('"unit":"celsius"', '"unit":"kelvin"')

    error = refused(spoilt(tmp_path / "unit.onnx", change))
    assert error.reason is Refusal.METADATA
    assert "expected 'celsius'" in error.detail


def test_an_unknown_channel_is_refused(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        text = model.metadata_props[0].value
        model.metadata_props[0].value = text.replace("gpu_power_watts", "gpu_mood")

    assert refused(spoilt(tmp_path / "channel.onnx", change)).reason is Refusal.FINGERPRINT


def test_another_output_name_is_refused(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        del model.graph.output[-1]

    assert refused(spoilt(tmp_path / "out.onnx", change)).reason is Refusal.SHAPE


def test_a_fixed_number_of_gpus_is_refused(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 8

    error = refused(spoilt(tmp_path / "fixed.onnx", change))
    assert error.reason is Refusal.SHAPE
    assert "free first axis" in error.detail


def test_a_window_in_doubles_is_refused(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        model.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
        cast = helper.make_node("Cast", ["window"], ["narrow"], to=TensorProto.FLOAT)
        model.graph.node[0].input[0] = "narrow"
        model.graph.node.insert(0, cast)

    assert refused(spoilt(tmp_path / "double.onnx", change)).reason is Refusal.SHAPE


def replaced(name: str, array: np.ndarray[Any, Any]) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        for tensor in model.graph.initializer:
            if tensor.name == name:
                tensor.CopyFrom(numpy_helper.from_array(array, name))

    return change


@pytest.mark.parametrize(
    ("constant", "value", "words"),
    [
        ("bias", np.array(2.0, np.float32), "leave [0, 1]"),
        ("factors", np.array([[1.0, 0.5, 0.75, 1.0]], np.float32), "fall with the horizon"),
        ("one", np.array(np.inf, np.float32), "non-finite"),
        ("percent", np.array(np.nan, np.float32), "non-finite"),
        ("factors", np.array([[0.5, 1.0]], np.float32), "has shape"),
        ("one_hot", np.full((1, 4), 1.0, np.float32), "sum to more than 1"),
    ],
    ids=["above one", "falling", "infinite", "not a number", "horizons", "contributions"],
)
def test_a_probe_that_answers_wrongly_is_refused(
    tmp_path: Path, constant: str, value: np.ndarray[Any, Any], words: str
) -> None:
    error = refused(spoilt(tmp_path / "probe.onnx", replaced(constant, value)))
    assert error.reason is Refusal.PROBE
    assert words in error.detail


def test_a_graph_traced_for_two_gpus_is_refused(tmp_path: Path) -> None:
    """The signature promises a free axis; only running it shows that a constant is not free."""

    def change(model: Any) -> None:
        two = numpy_helper.from_array(np.zeros((2,), np.float32), "two")
        model.graph.initializer.append(two)
        model.graph.node.append(helper.make_node("Add", ["risk", "two"], ["traced"]))
        score = next(node for node in model.graph.node if node.output[0] == "score")
        score.input[0] = "traced"
        model.graph.node.remove(score)
        model.graph.node.append(score)

    path = tmp_path / "traced.onnx"
    error = refused(spoilt(path, change))
    assert error.reason is Refusal.PROBE
    assert "GPUs" in error.detail or "shape" in error.detail
