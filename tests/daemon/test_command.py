"""Whoever stops a command gets one line and the status that shells expect."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from daemon import command


def test_ctrl_c_is_one_line_with_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    def enter() -> int:
        raise KeyboardInterrupt("give the same line again to go on")

    assert command.run("forewarn-x", enter) == 130
    told = "forewarn-x: stopped; give the same line again to go on\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("ended", [None, 0, 3])
def test_what_is_not_stopped_has_its_own_status(ended: int | None) -> None:
    assert command.run("forewarn-x", lambda: ended) == (ended or 0)


@pytest.mark.scenario
@pytest.mark.parametrize("package", ["exporter", "model", "simulator"])
def test_ctrl_c_while_a_command_imports_what_it_needs_is_one_line_too(package: str) -> None:
    """SIGINT in the import of the command itself, which is where a hurried hand meets it."""
    program = (
        "import importlib.abc, os, signal, sys\n"
        # What is started in the background ignores Ctrl-C, and so would what it starts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Hurry(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'argparse':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Hurry())\n"
        f"from {package}.__main__ import main\n"
        "sys.exit(main(['--help']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "")
    assert done.stderr == f"forewarn-{package}: stopped\n"
