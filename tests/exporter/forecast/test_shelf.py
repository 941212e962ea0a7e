"""A bad artefact never replaces a good one, and says why it was refused."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import onnx
import pytest

from daemon.logs import logger
from exporter.forecast.shelf import ModelShelf
from model.runtime import Refusal
from tests.factories import artefact

if TYPE_CHECKING:
    from pathlib import Path

    from exporter.forecast.shelf import InForce


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def shelf(tmp_path: Path, log: io.StringIO) -> ModelShelf:
    return _shelf(tmp_path, log)


def _shelf(folder: Path, log: io.StringIO, *, node_expected: bool = False) -> ModelShelf:
    out = logger("test", stream=log, style="json")
    bundled = folder / "bundled.onnx"
    return ModelShelf(folder, "n1", node_expected=node_expected, log=out, bundled=bundled)


def in_force(shelf: ModelShelf) -> InForce:
    assert shelf.in_force is not None
    return shelf.in_force


def version(shelf: ModelShelf) -> str:
    return in_force(shelf).predictor.info.version


def test_the_nodes_own_model_is_preferred(tmp_path: Path, shelf: ModelShelf) -> None:
    artefact.write(tmp_path / "fleet.onnx", version="fleet")
    artefact.write(tmp_path / "n1.onnx", version="own", scope="node", node="n1")
    assert shelf.look()
    assert version(shelf) == "own"
    assert not in_force(shelf).fallback


def test_without_a_directory_of_its_own_the_bundled_one_is_no_fallback(
    tmp_path: Path, log: io.StringIO
) -> None:
    bundled = artefact.write(tmp_path / "bundled.onnx")
    out = logger("test", stream=log)
    shelf = ModelShelf(None, "n1", node_expected=False, log=out, bundled=bundled)
    assert shelf.look()
    assert not in_force(shelf).fallback


def test_with_nothing_on_the_shelf_there_is_no_model(shelf: ModelShelf) -> None:
    assert not shelf.look()
    assert shelf.in_force is None
    assert shelf.reload_success


def test_a_replacement_comes_into_force_without_a_restart(
    tmp_path: Path, shelf: ModelShelf
) -> None:
    artefact.write(tmp_path / "fleet.onnx", version="one")
    shelf.look()
    assert not shelf.look()
    artefact.write(tmp_path / "new", version="two").replace(tmp_path / "fleet.onnx")
    assert shelf.look()
    assert version(shelf) == "two"


BAD = {
    "truncated": Refusal.NOT_ONNX,
    "empty": Refusal.NOT_ONNX,
    "future": Refusal.NOT_ONNX,
    "opset": Refusal.NOT_ONNX,
    "plain": Refusal.METADATA,
    "fingerprint": Refusal.FINGERPRINT,
    "equipment": Refusal.FINGERPRINT,
    "shape": Refusal.SHAPE,
    "above-one": Refusal.PROBE,
}


def _spoil(path: Path, how: str) -> None:
    if how == "fingerprint":
        artefact.write(path, schema_fingerprint="0123456789abcdef")
    elif how == "equipment":
        artefact.write(path, (artefact.TEMPERATURE, "facility_power_watts"))
    elif how == "shape":
        artefact.write(path)
        model = onnx.load_model(path)
        model.graph.output.pop()
        path.write_bytes(model.SerializeToString())
    elif how == "above-one":
        artefact.write(path, bias=2.0)
    else:
        _spoil_bytes(artefact.write(path), how)


def _spoil_bytes(path: Path, how: str) -> None:
    model = onnx.load_model(path)
    if how == "future":
        model.ir_version = 99
    if how == "opset":
        model.opset_import[0].version = 99
    if how == "plain":
        del model.metadata_props[:]
    whole = model.SerializeToString()
    cut = {"truncated": len(whole) * 6 // 10, "empty": 0}.get(how, len(whole))
    path.write_bytes(whole[:cut])


@pytest.mark.parametrize("how", BAD)
def test_a_bad_replacement_is_refused_and_the_last_good_one_stays(
    tmp_path: Path, shelf: ModelShelf, log: io.StringIO, how: str
) -> None:
    artefact.write(tmp_path / "fleet.onnx", version="good")
    shelf.look()
    _spoil(tmp_path / "fleet.onnx", how)
    for _ in range(5):
        assert not shelf.look()
    assert version(shelf) == "good"
    assert not shelf.reload_success
    assert shelf.refusals[BAD[how]] == 1
    assert log.getvalue().count("model refused") == 1


@pytest.mark.parametrize("how", BAD)
def test_at_a_cold_start_a_bad_own_model_falls_back_and_says_so(
    tmp_path: Path, shelf: ModelShelf, how: str
) -> None:
    artefact.write(tmp_path / "fleet.onnx", version="fleet")
    _spoil(tmp_path / "n1.onnx", how)
    assert shelf.look()
    assert version(shelf) == "fleet"
    assert in_force(shelf).fallback
    assert not shelf.reload_success


def test_a_good_file_after_an_empty_one_is_picked_up(tmp_path: Path, shelf: ModelShelf) -> None:
    (tmp_path / "fleet.onnx").write_bytes(b"")
    shelf.look()
    artefact.write(tmp_path / "fleet.onnx", version="good")
    assert shelf.look()
    assert version(shelf) == "good"
    assert shelf.reload_success


def test_a_fleet_model_where_the_nodes_own_is_expected_is_a_fallback(
    tmp_path: Path, log: io.StringIO
) -> None:
    artefact.write(tmp_path / "fleet.onnx")
    shelf = _shelf(tmp_path, log, node_expected=True)
    shelf.look()
    assert in_force(shelf).fallback


def test_a_folder_that_is_not_there_is_said_once_and_makes_the_bundled_one_a_fallback(
    tmp_path: Path, log: io.StringIO
) -> None:
    bundled = artefact.write(tmp_path / "bundled.onnx")
    out = logger("test", stream=log, style="json")
    models = tmp_path / "models"
    shelf = ModelShelf(models, "n1", node_expected=False, log=out, bundled=bundled)
    shelf.look()
    shelf.look(again=True)
    assert in_force(shelf).fallback
    assert log.getvalue().count("no such folder of models") == 1
    models.mkdir()
    shelf.look()
    assert not in_force(shelf).fallback


def test_a_deleted_model_stays_in_force_until_another_is_there(
    tmp_path: Path, shelf: ModelShelf
) -> None:
    artefact.write(tmp_path / "fleet.onnx", version="good").rename(tmp_path / "fleet.onnx")
    shelf.look()
    (tmp_path / "fleet.onnx").unlink()
    assert not shelf.look()
    assert version(shelf) == "good"


def test_an_artefact_that_would_end_the_process_is_not_loaded(
    tmp_path: Path, log: io.StringIO
) -> None:
    artefact.write(tmp_path / "fleet.onnx", version="deadly")
    artefact.write(tmp_path / "bundled.onnx", version="bundled")
    shelf = ModelShelf(
        tmp_path,
        "n1",
        node_expected=False,
        log=logger("test", stream=log, style="json"),
        bundled=tmp_path / "bundled.onnx",
        trial=lambda path: "was ended by SIGILL" if path.name == "fleet.onnx" else None,
    )
    shelf.look()
    assert version(shelf) == "bundled"
    assert shelf.refusals[Refusal.RUNTIME] == 1
    assert not shelf.reload_success
    assert "fleet.onnx: a process that loaded it was ended by SIGILL" in log.getvalue()
