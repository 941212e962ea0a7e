"""Real programs as child processes: one log file each, ended in reverse order of their start."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

import requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

GRACE_SECONDS = 5.0


class ProcessFailed(Exception):
    """A program that ended or never answered, with where its log is and how the log ends."""


class Processes:
    """The programs of one trial; leaving the context ends them all."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._started: dict[str, tuple[Sequence[str], Mapping[str, str] | None]] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(
        self, name: str, argv: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start `argv`; its output goes to `<logs>/<name>.log`."""
        self._started[name] = (argv, environment)
        with self.log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )

    def start_module(
        self, name: str, module: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start one of our commands with the Python that runs this."""
        self.start(name, (sys.executable, "-m", module, *arguments), environment)

    def log(self, name: str) -> Path:
        """The log file of one program."""
        return self._logs / f"{name}.log"

    def pid(self, name: str) -> int:
        """The process id of one program."""
        return self._running[name].pid

    def is_running(self, name: str) -> bool:
        """Tell whether the program was started and has not ended."""
        process = self._running.get(name)
        return process is not None and process.poll() is None

    def kill(self, name: str) -> None:
        """End one program as a power cut would (SIGKILL)."""
        self._running[name].kill()
        self._running.pop(name).wait()

    def check(self) -> None:
        """Raise `ProcessFailed` for the first program that has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise self._failed(name, f"ended with status {process.returncode}")

    def wait_until_answers(self, name: str, url: str, timeout_seconds: float = 30.0) -> None:
        """Wait for HTTP 200 at `url`; raises `ProcessFailed` when it does not come."""
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            self.check()
            if _answers(url):
                return
            time.sleep(0.1)
        raise self._failed(name, f"did not answer at {url} within {timeout_seconds:.0f} s")

    def restart(self, name: str) -> None:
        """Start a program again as it was started before."""
        argv, environment = self._started[name]
        self.start(name, argv, environment)

    def close(self) -> None:
        """End all programs, youngest first: SIGTERM, then SIGKILL after a grace."""
        for process in reversed(self._running.values()):
            process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        for process in reversed(self._running.values()):
            try:
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    def _failed(self, name: str, what: str) -> ProcessFailed:
        lines = self.log(name).read_text(errors="replace").splitlines()[-5:]
        return ProcessFailed(f"{name} {what}; {self.log(name)} ends: " + " | ".join(lines))


def free_port() -> int:
    """Return a port that was free a moment ago, for programs that cannot be asked for theirs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).ok
    except requests.RequestException:
        return False
