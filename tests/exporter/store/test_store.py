"""A saved window comes back whole or not at all."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from exporter import store
from exporter.forecast.drift import Drift
from exporter.readings import Departure, LeftAfter
from exporter.window import window
from exporter.window.roster import Roster
from tests.factories.sources import A, B, gpus

if TYPE_CHECKING:
    from pathlib import Path

WALL = 1_700_000_000.0


@pytest.fixture
def saved() -> store.Saved:
    grid = window.empty([A, B], 4)
    for _ in range(5):
        grid = grid.push(np.full((2, len(window.CHANNELS)), 7.5), WALL)
    left = Departure(B, LeftAfter.RELOAD, busy=False, hardware_xid=True)
    roster = Roster().saw(gpus(A, B)).saw(gpus(A), [left])
    state = np.ones((2, 3), np.float32)
    drift = Drift(np.array([0.1, 0.0]), np.array([0.4, 0.5]))
    return store.Saved("n1", 60.0, WALL, grid, roster, "digest", state, drift)


@pytest.fixture
def path(tmp_path: Path, saved: store.Saved) -> Path:
    path = tmp_path / store.FILE_NAME
    store.save(path, saved)
    return path


def test_what_was_saved_comes_back(path: Path, saved: store.Saved) -> None:
    back = store.load(path, node="n1", wall=WALL + 5)
    assert back is not None
    assert (back.roster, back.model_digest) == (saved.roster, "digest")
    np.testing.assert_array_equal(back.window.raw, saved.window.raw)
    np.testing.assert_array_equal(back.window.ages, saved.window.ages)
    np.testing.assert_array_equal(back.state, saved.state)
    np.testing.assert_array_equal(back.drift.outside, saved.drift.outside)
    np.testing.assert_array_equal(back.drift.seen, saved.drift.seen)
    assert back.window.last_wall == WALL


def test_nothing_saved_is_nothing_wrong(tmp_path: Path) -> None:
    assert store.load(tmp_path / "none.bin", node="n1", wall=WALL) is None


@pytest.mark.parametrize("cut", [0, 5, 40, 200, -1])
def test_a_torn_file_is_refused_with_one_line(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(store.StoreRefused) as refusal:
        store.load(path, node="n1", wall=WALL)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_changed_byte_is_refused(path: Path) -> None:
    blob = bytearray(path.read_bytes())
    blob[-100] ^= 1
    path.write_bytes(blob)
    with pytest.raises(store.StoreRefused, match="checksum"):
        store.load(path, node="n1", wall=WALL)


def test_the_window_of_another_node_is_refused(path: Path) -> None:
    with pytest.raises(store.StoreRefused, match="expected 'n2'"):
        store.load(path, node="n2", wall=WALL)


def test_a_window_from_the_future_is_not_trusted(path: Path) -> None:
    with pytest.raises(store.StoreRefused, match="future"):
        store.load(path, node="n1", wall=WALL - 6 * 3600)


def test_saving_replaces_the_file_at_once(path: Path, saved: store.Saved) -> None:
    before = path.stat().st_ino
    store.save(path, saved)
    assert path.stat().st_ino != before
    assert [entry.name for entry in path.parent.iterdir()] == [store.FILE_NAME]


def test_columns_are_found_by_channel_name(path: Path) -> None:
    """A release that adds, drops or moves a channel keeps the windows of the one before."""
    first, second, *rest = window.CHANNELS
    _rewrite(path, (second, first, *rest[:-1], "gpu_dropped_since"))
    back = store.load(path, node="n1", wall=WALL)
    assert back is not None
    row = back.window.raw[-1, 0]
    assert (row[0], row[1]) == (1.0, 0.0)
    assert np.isnan(row[-1])


def test_a_file_of_before_ages_and_departures_were_saved_says_nothing_of_them(path: Path) -> None:
    arrays = _arrays(path)
    del arrays["ages"]
    del arrays["departed"]
    _write(path, arrays)
    back = store.load(path, node="n1", wall=WALL)
    assert back is not None
    assert np.isinf(back.window.ages).all()
    assert back.roster.departed == ()


def _arrays(path: Path) -> dict[str, np.ndarray]:
    _, _, payload = path.read_bytes().partition(b"\n")
    with np.load(io.BytesIO(payload)) as saved:
        return dict(saved)


def _rewrite(path: Path, channels: tuple[str, ...]) -> None:
    """Give the saved columns other names, numbering them 0, 1, 2 …"""
    arrays = _arrays(path)
    header = msgspec.json.decode(arrays["header"].tobytes(), type=store.Header)
    header = msgspec.structs.replace(header, channels=channels)
    arrays["header"] = np.frombuffer(msgspec.json.encode(header), np.uint8)
    arrays["raw"] = np.broadcast_to(np.arange(len(channels), dtype=float), arrays["raw"].shape)
    _write(path, arrays)


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest().encode()
    path.write_bytes(store.MAGIC + digest + b"\n" + buffer.getvalue())
