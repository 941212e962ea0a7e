"""Files that appear in one instant: readers see the old one or the new one, whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def put(path: Path, blob: bytes) -> None:
    """Put `blob` at `path`."""
    fill(path, lambda file: file.write(blob))


def fill(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Put at `path` what `write` writes; nothing is there before all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
