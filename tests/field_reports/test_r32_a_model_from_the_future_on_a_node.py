"""R32: an artefact that this runtime does not know is refused by name, and the old one predicts."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import onnx
import pytest

from daemon.logs import logger
from exporter.forecast.shelf import ModelShelf
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path

IR, OPSET = 15, 99


def from_the_future(path: Path, how: str) -> None:
    model = onnx.load_model(artefact.write(path))
    if how == "ir":
        model.ir_version = IR
    else:
        model.opset_import[0].version = OPSET
    path.write_bytes(model.SerializeToString())


def shelf_on(folder: Path, log: io.StringIO) -> ModelShelf:
    out = logger("test", stream=log, style="json")
    return ModelShelf(folder, "n1", node_expected=False, log=out, bundled=folder / "none.onnx")


@pytest.mark.parametrize(("how", "number"), [("ir", IR), ("opset", OPSET)])
def test_r32_the_reason_names_what_is_too_new_and_the_last_good_one_stays(
    tmp_path: Path, how: str, number: int
) -> None:
    log = io.StringIO()
    artefact.write(tmp_path / "fleet.onnx", version="good")
    shelf = shelf_on(tmp_path, log)
    shelf.look()
    from_the_future(tmp_path / "fleet.onnx", how)
    shelf.look()
    assert shelf.in_force is not None
    assert shelf.in_force.predictor.info.version == "good"
    assert not shelf.reload_success
    (said,) = shelf.refused.values()
    assert str(number) in said
    assert log.getvalue().count("model refused") == 1


def test_r32_a_bad_own_model_at_a_cold_start_falls_through_to_the_fleets(tmp_path: Path) -> None:
    from_the_future(tmp_path / "n1.onnx", "ir")
    artefact.write(tmp_path / "fleet.onnx", version="fleet")
    shelf = shelf_on(tmp_path, io.StringIO())
    shelf.look()
    assert shelf.in_force is not None
    assert (shelf.in_force.predictor.info.version, shelf.in_force.fallback) == ("fleet", True)


def test_r32_an_empty_file_makes_no_storm_and_the_good_one_is_picked_up(tmp_path: Path) -> None:
    log = io.StringIO()
    (tmp_path / "fleet.onnx").write_bytes(b"")
    shelf = shelf_on(tmp_path, log)
    for _ in range(20):
        shelf.look()
    assert log.getvalue().count("model refused") == 1
    artefact.write(tmp_path / "fleet.onnx", version="good")
    assert shelf.look()
    assert shelf.reload_success
