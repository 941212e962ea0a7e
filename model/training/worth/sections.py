"""Sections of a page between marks, each replaced by the run that it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from daemon.destinations import NoDestination
from model.history import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


class Place(NamedTuple):
    """A page, and the command that its sections say they are from."""

    page: Path
    command: str


class Sections(NamedTuple):
    """Where a run leaves its table, and beside it its bars, if it is held to any.

    Without a place all is left where it was.
    """

    place: Place | None
    run: str
    held_to_bars: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The marks between which it writes."""
        return (f"bars-{self.run}", self.run) if self.held_to_bars else (self.run,)

    def check(self) -> None:
        """Raise `NoDestination` unless the page has them, before hours of work."""
        if self.place is not None:
            check(self.place.page, self.names)

    def fill(self, told: str, table: str, bars: str) -> None:
        """Write the table, in words of what it is, with the command that makes it again."""
        if self.place is None:
            return
        block = f"`{self.place.command}`, of {told}:\n\n```\n{table}\n```"
        texts = (bars, block) if self.held_to_bars else (block,)
        write(self.place.page, dict(zip(self.names, texts, strict=True)))


def check(page: Path, names: Iterable[str]) -> None:
    """Raise `NoDestination` unless `page` has the marks of every section, before hours of work."""
    text = _read(page)
    for name in names:
        _around(page, text, name)


def write(page: Path, texts: Mapping[str, str]) -> None:
    """Put each text between the marks of its section, all in one instant."""
    whole = _read(page)
    for name, text in texts.items():
        before, after = _around(page, whole, name)
        whole = f"{before}\n{text}\n\n{after}"
    files.put(page, whole.encode())


def _read(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise NoDestination(f"--write {page}: expected a page that exists and is text") from None


def _around(page: Path, text: str, name: str) -> tuple[str, str]:
    """Return what stands up to the end of the first mark, and from the second mark on."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise NoDestination(
            f"--write {page}: no section {name}, expected the lines "
            f"<!-- {name} --> and <!-- /{name} -->"
        )
    return f"{before}{begin}", f"{end}{after}"
