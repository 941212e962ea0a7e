"""Flags that mean nothing together: refused in one line, before any work, and never ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable


class WrongLine(ValueError):
    """A command line that cannot be meant: which flag, and what was expected. Status 2."""


def unread(
    arguments: argparse.Namespace,
    parser: argparse.ArgumentParser,
    names: Iterable[str],
    why: str,
) -> None:
    """Raise `WrongLine` where one of the flags `names`, which nobody would read, is given.

    `names` are those of the namespace; what `parser` takes by itself is not given.
    """
    given = [name for name in names if getattr(arguments, name) != parser.get_default(name)]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise WrongLine(f"{flags}: {why}")
