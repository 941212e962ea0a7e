"""Finds Prometheus and Alertmanager, or brings them with the system's package manager."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Debian renames the second one, since `alertmanager` is too general a word there.
NAMES = {
    "prometheus": ("prometheus",),
    "alertmanager": ("alertmanager", "prometheus-alertmanager"),
}
INSTALL = ("apt-get", "install", "--yes", "--quiet", "prometheus", "prometheus-alertmanager")
UPDATE = ("apt-get", "update", "--quiet")


class ProgramMissing(Exception):
    """A program that the demo needs, with the command that brings it."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Paths of the real programs that the demo starts."""

    prometheus: str
    alertmanager: str


def locate(
    say: Callable[[str], None], which: Callable[[str], str | None] = shutil.which
) -> Programs:
    """Return both programs, installing them first if they are missing and we may.

    Raises `ProgramMissing` with one clear line otherwise.
    """
    found = _look(which)
    if None in found.values() and _may_install(which):
        say(f"Prometheus or Alertmanager is missing; running: {' '.join(INSTALL)}")
        _install()
        found = _look(which)
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise ProgramMissing(
            f"{' and '.join(missing)} not found on PATH; on Debian or Ubuntu run: "
            f"sudo {' '.join(INSTALL)}"
        )
    return Programs(**{name: str(path) for name, path in found.items()})


def _look(which: Callable[[str], str | None]) -> dict[str, str | None]:
    return {
        name: next((path for path in map(which, spellings) if path), None)
        for name, spellings in NAMES.items()
    }


def _may_install(which: Callable[[str], str | None]) -> bool:
    return os.geteuid() == 0 and which("apt-get") is not None


def _install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (UPDATE, INSTALL):
        subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL)
