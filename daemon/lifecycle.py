"""Stop and reload: signals and changed files, turned into events that loops wait on."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


class Lifecycle:
    """Two events: `stop` ends every loop, `reload` asks the owner to read its files again."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.reload = threading.Event()

    def install_signals(self) -> None:
        """Bind SIGTERM and SIGINT to stop, SIGHUP to reload; only the main thread may call it."""
        signal.signal(signal.SIGTERM, lambda *_: self.stop.set())
        signal.signal(signal.SIGINT, lambda *_: self.stop.set())
        signal.signal(signal.SIGHUP, lambda *_: self.reload.set())


def run_every(
    period_seconds: float,
    step: Callable[[], None],
    *,
    stop: threading.Event,
    monotonic: Callable[[], float],
) -> None:
    """Call `step` on a fixed grid until `stop`; a late step skips grid points, never bunches up."""
    due = monotonic()
    while not stop.is_set():
        step()
        due += period_seconds
        behind = monotonic() - due
        if behind > 0:
            due += period_seconds * (1 + behind // period_seconds)
        stop.wait(max(0.0, due - monotonic()))


class FileWatch:
    """Tells whether any of some files changed since the last look."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._seen = self._stamps()

    def changed(self) -> bool:
        """Return True once for each observed change of content, presence or symlink target."""
        now = self._stamps()
        changed, self._seen = now != self._seen, now
        return changed

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(path) for path in self._paths)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
