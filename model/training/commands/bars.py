"""Progress of long work on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID


class Bars:
    """One progress bar per stage, in the order in which they begin."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """Show that `stage` has come to `done` of `total`."""
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, note="")
        self._progress.update(self._tasks[stage], completed=done, note=note)


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
