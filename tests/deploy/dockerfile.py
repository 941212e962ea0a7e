"""Reads the part of the Dockerfile language that ours uses; runs its build without an engine."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Stage:
    """One FROM with its instructions, in order."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def values(self, keyword: str) -> list[str]:
        """Arguments of every instruction of one kind."""
        return [value for key, value in self.steps if key == keyword]


def stages(text: str) -> dict[str, Stage]:
    """Return the stages by name; `ARG` before the first FROM is filled in."""
    arguments: dict[str, str] = {}
    found: dict[str, Stage] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        keyword, _, rest = line.partition(" ")
        for name, value in arguments.items():
            rest = rest.replace(f"${{{name}}}", value)
        if keyword == "ARG" and not found:
            name, _, arguments[name] = rest.partition("=")
        elif keyword == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = Stage(name, base)
        else:
            found[list(found)[-1]].steps.append((keyword, rest.strip()))
    return found


@dataclass(slots=True)
class Builder:
    """Runs stages in a folder: `python` is a fresh one, /src and /opt/forewarn lie in `folder`."""

    root: Path
    folder: Path
    python: Path

    def run(self, stage: Stage, known: dict[str, Stage]) -> None:
        """Run a stage after the one that it is based on."""
        if stage.base in known:
            self.run(known[stage.base], known)
        for keyword, rest in stage.steps:
            if keyword == "COPY":
                self._copy(rest.split())
            elif keyword == "RUN":
                self._shell(rest)

    def _copy(self, names: list[str]) -> None:
        target = self.folder / "src" / names[-1]
        for source in (self.root / name for name in names[:-1]):
            if source.is_dir():
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, dirs_exist_ok=True, ignore=ignore)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def _shell(self, command: str) -> None:
        line = command.replace("/opt/forewarn", shlex.quote(str(self.folder / "forewarn")))
        path = f"{self.python.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        result = subprocess.run(
            ["sh", "-ec", line],
            cwd=self.folder / "src",
            env={**os.environ, "PATH": path, "PYTHONPATH": ""},
            capture_output=True,
            text=True,
            timeout=570,
            check=False,
        )
        assert result.returncode == 0, f"RUN {command}\n{result.stdout}{result.stderr}"


def entry_point(stage: Stage) -> str:
    """Return the program of an exec-form ENTRYPOINT without arguments."""
    (value,) = stage.values("ENTRYPOINT")
    match = re.fullmatch(r'\["(/[^"]+)"\]', value)
    assert match, f"expected exec form, not {value}"
    return match[1]
