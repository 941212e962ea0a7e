"""Child programs are ended with the trial, and one that dies says why."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from simulator.processes import Processes, ProcessFailed


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_leaving_the_context_ends_every_program(tmp_path: Path) -> None:
    with Processes(tmp_path) as processes:
        processes.start("sleeper", ("sleep", "60"))
        pid = processes.pid("sleeper")
    assert not alive(pid)


def test_a_program_that_ends_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    with Processes(tmp_path) as processes:
        processes.start("liar", (sys.executable, "-c", "raise SystemExit('no port given')"))
        for _ in range(100):
            time.sleep(0.05)
            try:
                processes.check()
            except ProcessFailed as failure:
                assert "liar ended with status 1" in str(failure)
                assert "no port given" in str(failure)
                return
    pytest.fail("the death of a program went unnoticed")
