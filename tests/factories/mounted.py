"""A mounted secret as the kubelet lays it out: a folder of symlinks, swapped as a whole."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Mounted:
    """Files at `folder/<name>` that lead through `..data` to one generation."""

    def __init__(self, folder: Path, files: Mapping[str, bytes]) -> None:
        self.folder = folder
        self._generation = 0
        folder.mkdir(parents=True)
        self.rotate(files)
        for name in files:
            (folder / name).symlink_to(f"..data/{name}")

    def rotate(self, files: Mapping[str, bytes]) -> None:
        """Write a new generation, swap `..data` to it, delete the one before."""
        before = self._folder_of(self._generation)
        self._generation += 1
        fresh = self._folder_of(self._generation)
        fresh.mkdir()
        for name, content in files.items():
            (fresh / name).write_bytes(content)
        swap = self.folder / "..data_tmp"
        swap.symlink_to(fresh.name)
        swap.replace(self.folder / "..data")
        if before.exists():
            shutil.rmtree(before)

    def _folder_of(self, generation: int) -> Path:
        return self.folder / f"..2026_{generation}"
