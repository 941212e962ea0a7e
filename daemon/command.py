"""The way into every command: whoever stops it is told so in one line, wherever it was."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
"""As shells count it: 128 and the number of SIGINT."""
WRONG_SETTINGS = 78
"""EX_CONFIG of sysexits.h: the settings, or a file that they name; a wrong command line is 2."""


def run(program: str, enter: Callable[[], int | None]) -> int:
    """Return the exit status of `enter`, or 130 and one line where Ctrl-C ended it.

    `enter` also imports what the command needs, which can take seconds.  What a
    `KeyboardInterrupt` carries is said with it: how to go on, where that is possible.
    """
    try:
        return enter() or 0
    except KeyboardInterrupt as stopped:
        start = "\n" if sys.stderr.isatty() else ""  # the terminal has echoed ^C
        sys.stderr.write(f"{start}{program}: {'; '.join(('stopped', *stopped.args))}\n")
        return INTERRUPTED
