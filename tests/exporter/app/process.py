"""The command `forewarn-exporter` as a child process, as a pod would run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.exporter.app.bench import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[3]


class Running:
    """One process and its log."""

    def __init__(
        self,
        config: str,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
        prefix: Sequence[str] = (),
        name: str = "exporter",
    ) -> None:
        path = folder / f"{name}.yml"
        path.write_text(config, encoding="utf-8")
        self._log = folder / f"{name}.log"
        with self._log.open("wb") as out:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "exporter", "--config", str(path)],
                stderr=out,
                cwd=ROOT,
                env={**os.environ, **(environment or {})},
                preexec_fn=before,  # noqa: PLW1509 - nothing but a system call between fork and exec
            )
        self.port: int = eventually(self._port, "the port in the log")

    @property
    def pid(self) -> int:
        return self.process.pid

    def lines(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines()

    def said(self) -> list[dict[str, Any]]:
        """The log; a line that is not JSON is not ours and fails here."""
        return [json.loads(line) for line in self.lines()]

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/task").iterdir()))

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self, sign: int = signal.SIGTERM, within_seconds: float = 15.0) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        return self.process.wait(within_seconds)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _port(self) -> int:
        assert self.process.poll() is None, self._log.read_text(encoding="utf-8")
        return next((line["port"] for line in self._ours() if "port" in line), 0)

    def _ours(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines() if line.startswith("{")]
