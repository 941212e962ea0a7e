"""What a node's own model costs: `python -m benchmarks.finetune`.

One simulated node of 8 GPUs and 30 days, every channel that the simulator
shows, on the scale of a real training.  Its history is written as it would have
been read, and a fleet model is made of it, only so that there is one; then the
node's model is tuned, judged and written by a process of its own, whose time
and memory are told.  How long a server takes to answer is not part of it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from daemon import numbers

NODE, START, STEP = "gpu-a01", 1_700_006_400, 60


def site(  # noqa: ANN201 - a campaign, imported late
    folder: Path, days: float, seed: int, schedule: str = "full"
):
    """Return the campaign of one node whose history lies in `folder`."""
    from model.history.access import Server
    from model.history.plan import Plan, PlannedNode
    from model.history.question import Address, Question
    from model.history.reader import connect
    from model.training.site.campaign import Campaign, Folders

    plan = Plan(
        server=Server("http://nowhere:9090"),
        question=Question(),
        start=START,
        end=START + round(days * 86_400),
        nodes=(PlannedNode(NODE, (Address("node", NODE),), ()),),
        fleet=(NODE,),
        shards=1,
        seed=seed,
        simulate="none",
        schedule=schedule,
    )
    folders = Folders(folder / "work", folder / "models")
    # Nothing is asked of the server: all is on disk.
    return Campaign(plan, folders, connect(plan.server), lambda *_: None)


def write_history(folder: Path, days: float, gpus: int, seed: int) -> float:
    """Write what would have been read; return its size on disk in bytes per day."""
    from model.sources.dcgm_series import Told, unchanged
    from model.sources.series import Cube
    from simulator.history import record
    from simulator.instruments.shown import SHOWN

    chunks = site(folder, days, seed).chunks(SHOWN)
    history = record("healthy", node=NODE, seed=seed, steps=round(days * 1_440), gpus=gpus)
    column = {name: place for place, name in enumerate(history.channels)}
    for over in chunks.wanted.pieces():
        first = round((over.start - START) / STEP)
        values = np.full((gpus, over.count, len(chunks.wanted.names)), np.nan)
        for place, name in enumerate(chunks.wanted.names):
            if name in column:
                values[:, :, place] = history.values[:, first : first + over.count, column[name]]
        cube = Cube({f"GPU-{g}": values[g] for g in range(gpus)}, values[0], {})
        cube.index.update({uuid: str(g) for g, uuid in enumerate(cube.gpu)})
        chunks.keep(NODE, over, Told(cube, unchanged(over)))
    files = [path.stat().st_size for path in (folder / "work").rglob("*.npz")]
    return sum(files) / days


def tune(folder: Path, days: float, seed: int) -> None:
    """Tune the node's model and say how it ended; run as a process of its own."""
    from model.training.site import own

    campaign = site(folder, days, seed)
    print(own.train(campaign, campaign.plan.nodes[0]), file=sys.stderr)
    print(peak_mib())


def main() -> None:
    """Measure, and print one line of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=numbers.real(2.0, numbers.LONGEST_DAYS), default=30.0)
    parser.add_argument("--gpus", type=numbers.whole(1), default=8)
    parser.add_argument("--seed", type=numbers.seed, default=7)
    parser.add_argument("--tune", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.tune is not None:
        tune(asked.tune, asked.days, asked.seed)
        return
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), asked)


def measure(folder: Path, asked: argparse.Namespace) -> None:
    """Prepare, tune in a child, and print what the child took."""
    line = [sys.executable, "-m", "benchmarks.finetune", "--days", str(asked.days)]
    line += ["--gpus", str(asked.gpus), "--seed", str(asked.seed)]
    size = write_history(folder, asked.days, asked.gpus, asked.seed)
    make_fleet(folder, asked.days, asked.seed)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    peak = asked_of([*line, "--tune", str(folder)])
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    head = ("GPUs", "days", "wall, s", "CPU, s", "peak MiB", "framework alone, MiB")
    print(f"| {' | '.join(head)} | disk, MB a day | load |\n{'| --- ' * 8}|")
    print(
        f"| {asked.gpus} | {asked.days:g} | {wall:.0f} | {cpu:.0f} | {peak:.0f} "
        f"| {framework_mib():.0f} | {size / 1e6:.2f} | {os.getloadavg()[0]:.1f} |"
    )


def peak_mib() -> float:
    """Return what this process took at the most.

    Not from `getrusage`: that of a child begins with what its parent held when it
    was started, and the parent has trained a fleet's model.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def asked_of(line: list[str]) -> float:
    """Run a command and return the number that it prints."""
    return float(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)


def framework_mib() -> float:
    """Return what a process takes at the most that imports the framework and does nothing."""
    words = "import torch; from benchmarks.finetune import peak_mib; print(peak_mib())"
    return asked_of([sys.executable, "-c", words])


def make_fleet(folder: Path, days: float, seed: int) -> None:
    """Write a fleet model of that one node, short of training: only so that there is one."""
    from model.training.site import fleet

    fleet.train(site(folder, days, seed, "tiny"))


if __name__ == "__main__":
    main()
