"""A loaded artefact answers by the contract, however its file fares afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from model import runtime, schema
from model.artefact import ArtefactInfo, ChannelUse
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path


def window(*celsius: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    values = np.full((len(celsius), 8, len(artefact.NAMES)), np.nan, np.float32)
    values[:, -1, 0] = celsius
    return values


def test_outputs_carry_the_names_of_the_contract(tmp_path: Path) -> None:
    predictor = runtime.load(artefact.write(tmp_path / "a.onnx"))
    got = predictor.predict(window(40.0, 80.0), predictor.initial_state(2))
    np.testing.assert_allclose(got.gpu[:, -1], [0.4, 0.8], rtol=1e-6)
    np.testing.assert_allclose(got.node, [0.2, 0.4, 0.6, 0.8], rtol=1e-6)
    assert got.cause.shape == (6, 4)
    np.testing.assert_array_equal(got.state, [[1.0], [1.0]])


def test_what_an_artefact_does_not_say_is_not_written() -> None:
    """A runtime of before the field refuses an artefact that uses it, and only that."""
    said = msgspec.json.encode(artefact.info())
    assert b"unseen" not in said
    assert b"unseen" in msgspec.json.encode(artefact.info(unseen=("node_power_watts",)))
    assert msgspec.json.decode(said, type=ArtefactInfo) == artefact.info()


def test_loading_leaves_no_tie_to_the_file(tmp_path: Path) -> None:
    path = artefact.write(tmp_path / "a.onnx")
    predictor = runtime.load(path)
    path.unlink()
    assert predictor.predict(window(50.0), predictor.initial_state(1)).node[-1] == np.float32(0.5)


def test_another_file_has_another_digest(tmp_path: Path) -> None:
    one = runtime.load(artefact.write(tmp_path / "a.onnx"))
    other = runtime.load(artefact.write(tmp_path / "b.onnx", version="test-2"))
    assert one.digest != other.digest


def test_what_training_never_saw_is_read_as_missing_and_not_as_strange(tmp_path: Path) -> None:
    channels = tuple(
        ChannelUse(name, schema.BY_NAME[name].unit, required=False) for name in artefact.NAMES
    )
    seeing = runtime.load(artefact.write(tmp_path / "a.onnx", channels=channels))
    blind = runtime.load(
        artefact.write(tmp_path / "b.onnx", channels=channels, unseen=(artefact.TEMPERATURE,))
    )
    shown = window(80.0)
    assert seeing.predict(shown, seeing.initial_state(1)).node[-1] == pytest.approx(0.8)
    assert blind.predict(shown, blind.initial_state(1)).node[-1] == 0.0
    assert shown[0, -1, 0] == 80.0, "the window of the caller stays as it was"
