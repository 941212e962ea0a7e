"""Loops keep their grid; watched files tell each change once."""

from __future__ import annotations

import threading
from pathlib import Path

from daemon.lifecycle import FileWatch, run_every


def test_a_changed_file_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    watch = FileWatch([path])
    assert not watch.changed()
    path.write_bytes(b"one")
    assert watch.changed()
    assert not watch.changed()
    path.unlink()
    assert watch.changed()


def test_a_late_step_skips_grid_points_instead_of_bunching_up() -> None:
    stop = threading.Event()
    now = 0.0
    starts: list[float] = []

    def step() -> None:
        nonlocal now
        starts.append(now)
        now += 2.5 if len(starts) == 1 else 0.0
        if len(starts) == 3:
            stop.set()

    class Waits(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            nonlocal now
            now += timeout or 0.0
            return self.is_set()

    stop = Waits()
    run_every(1.0, step, stop=stop, monotonic=lambda: now)
    assert starts == [0.0, 3.0, 4.0]
