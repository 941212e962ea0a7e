"""Progress of long work: bars on a terminal, now and then a line in a log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rich.progress import TaskID


LINES = 10
"""Lines of a stage in a log."""


class Bars:
    """One progress bar per stage, in the order in which they begin.

    Where nobody looks on, as in a pod, a line on standard error for each tenth of a stage.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._told: dict[str, int] = {}

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """Show that `stage` has come to `done` of `total`."""
        if not self._progress.console.is_terminal:
            self._tell(stage, done, total, note)
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, note="")
        self._progress.update(self._tasks[stage], completed=done, note=note)

    def _tell(self, stage: str, done: int, total: int, note: str) -> None:
        part = done * LINES // max(total, 1)
        if part > self._told.get(stage, 0):
            self._told[stage] = part
            sys.stderr.write(f"{stage}: {done}/{total} {note}".rstrip() + "\n")
            sys.stderr.flush()


def plain() -> Console:
    """Return where a command says what it found: words as they are, lines as long as they are."""
    return Console(highlight=False, markup=False, soft_wrap=True)


def progress(console: Console) -> Progress:
    """Return the frame in which bars are shown."""
    return Progress(
        TextColumn("{task.description:>18}"),
        BarColumn(),
        TextColumn("{task.completed:>5.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )
