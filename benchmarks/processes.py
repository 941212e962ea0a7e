"""What the kernel books to a process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process held and burnt at one moment."""

    resident_mib: float
    cpu_seconds: float
    threads: int


def usage(pid: int) -> Usage:
    """Read the kernel's own accounting of `pid`."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    values = dict(line.split(":", 1) for line in status.splitlines())
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return Usage(
        resident_mib=int(values["VmRSS"].split()[0]) / 1024,
        cpu_seconds=(int(fields[11]) + int(fields[12])) / TICKS,
        threads=int(values["Threads"]),
    )


def load() -> str:
    """Return the machine's load averages, which say how far a number may be trusted."""
    return "load average " + ", ".join(f"{value:.2f}" for value in os.getloadavg())
