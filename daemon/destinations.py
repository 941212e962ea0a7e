"""Where a command is told to write, looked at before it has worked for an hour."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class NoDestination(ValueError):
    """Nothing can be written there: the flag, the path, what was expected."""


def file(flag: str, path: Path, *, ending: str = "") -> None:
    """Raise `NoDestination` where no file can be written at `path`; folders are not made."""
    expected = f"expected a file that ends in {ending}" if ending else "expected a file"
    if path.is_dir():
        raise NoDestination(f"{flag} {path} is a folder, {expected}")
    if path.suffix != ending and ending:
        raise NoDestination(f"{flag} {path}: {expected}")
    _parent(flag, path)


def folder(flag: str, path: Path) -> None:
    """Raise `NoDestination` where `path` is no folder and cannot become one."""
    if path.is_dir():
        return
    if path.exists():
        raise NoDestination(f"{flag} {path} is a file, expected a folder")
    _parent(flag, path)


def made(path: Path) -> str:
    """Make the folder `path` where there is none; returns a line that says so, or nothing."""
    if path.is_dir():
        return ""
    path.mkdir(exist_ok=True)
    return f"made folder {path}"


def _parent(flag: str, path: Path) -> None:
    parent = path.parent
    if not parent.is_dir():
        raise NoDestination(f"{flag} {path}: no such folder: {parent}")
    if not os.access(parent, os.W_OK):
        raise NoDestination(f"{flag} {path}: the folder {parent} cannot be written to")
