"""What is freed goes back to the system."""

from __future__ import annotations

import os
import platform

import pytest

from benchmarks.processes import usage
from exporter.heap import give_back


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is another one")
def test_freed_pages_between_used_ones_are_given_back() -> None:
    blocks = [bytes(1_000) for _ in range(60_000)]
    held = usage(os.getpid()).resident_mib
    blocks = blocks[::1_000]
    assert give_back()
    assert held - usage(os.getpid()).resident_mib > 30
    assert len(blocks) == 60
