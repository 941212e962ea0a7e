"""What reading a month takes of memory is that of one piece of it, whatever jobs came and went."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from daemon.prometheus import Range, Series
from model.history.access import Server
from model.history.chunks import Chunks, Wanted
from model.history.question import Address, Family, Question
from model.history.reader import Reader
from model.schema import ON_A_NODE, Level
from tests.factories.history import START

DAY_STEPS = 1_440
MONTH_STEPS = 30 * DAY_STEPS
FIELD, CHANNEL = "DCGM_FI_DEV_GPU_TEMP", "gpu_temperature_celsius"
MEBIBYTE = 1 << 20
OF_A_GPU = [channel for channel in ON_A_NODE if channel.level is Level.GPU]


class Churned:
    """A server that folds nothing: each job of a GPU is a series of its own, two steps too long."""

    def __init__(self, jobs: int) -> None:
        self._length = MONTH_STEPS // jobs

    def query_range(self, _: str, over: Range) -> list[Series]:
        """Return the jobs that have a sample in the range."""
        first = round((over.start - START) / over.step)
        last = round((over.end - START) / over.step)
        jobs = range(max(0, first // self._length - 1), last // self._length + 1)
        found = [self._job(job, first, last) for job in jobs]
        return [one for one in found if one.values]

    def _job(self, job: int, first: int, last: int) -> Series:
        begin, end = job * self._length, (job + 1) * self._length + 2
        steps = range(max(first, begin), min(last + 1, end))
        labels = {"__name__": FIELD, "UUID": "A", "gpu": "0", "Hostname": "n1", "pod": f"job-{job}"}
        return Series(labels, [(START + step * 60.0, "61") for step in steps])


class Whole:
    """A server that knows every channel of every GPU at every step."""

    def query_range(self, _: str, over: Range) -> list[Series]:
        """Return a series for each channel of each GPU."""
        walls = [
            over.start + step * over.step
            for step in range(round((over.end - over.start) / over.step) + 1)
        ]
        return [
            Series(
                {"__name__": channel.metric, "uuid": f"GPU-{gpu}", "gpu": str(gpu)},
                [(wall, str(50 + wall // 60 % 7)) for wall in walls],
            )
            for channel in OF_A_GPU
            for gpu in range(8)
        ]


def peak(folder: Path, server: Churned | Whole, question: Question, names, days: int) -> int:
    """Return the most bytes that reading so many days took at once, in a process of its own.

    In this one the threads and the garbage of other tests would be counted too.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(reading, folder, server, question, names, days).result()


def reading(folder: Path, server: Churned | Whole, question: Question, names, days: int) -> int:
    wanted = Wanted(question, names, START, START + days * DAY_STEPS * 60, Server("http://a:9090"))
    chunks = Chunks(folder, wanted, Reader(server, lambda _: None))
    tracemalloc.start()
    chunks.fetch("n1", [Address("node", "n1")], lambda *_: None)
    return tracemalloc.get_traced_memory()[1]


def of_jobs(folder: Path, jobs: int, days: int) -> int:
    return peak(folder, Churned(jobs), Question(Family.DCGM), (CHANNEL,), days)


def test_r38_four_hundred_jobs_take_the_memory_of_one_and_a_month_that_of_a_day(
    tmp_path: Path,
) -> None:
    month = of_jobs(tmp_path / "jobs", 400, 30)
    assert month < 0.5 * MEBIBYTE
    assert month < 1.3 * of_jobs(tmp_path / "one", 1, 30)
    assert month < 1.3 * of_jobs(tmp_path / "day", 400, 1)
    assert len(list((tmp_path / "jobs").rglob("*.npz"))) == 60


@pytest.mark.training
def test_r38_a_node_of_eight_gpus_with_every_channel_is_read_in_bounded_memory(
    tmp_path: Path,
) -> None:
    names = tuple(channel.name for channel in OF_A_GPU)
    assert peak(tmp_path, Whole(), Question(), names, 1) < 64 * MEBIBYTE
