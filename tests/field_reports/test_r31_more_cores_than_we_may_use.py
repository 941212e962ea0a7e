"""R31: the machine has more processors than the process may use, and no place to write."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.exporter.app.bench import PROBABILITY, FakeDcgm, eventually, get, page, series
from tests.exporter.app.process import Running
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.scenario
THREADS = 12
WATCHED_SECONDS = 10.0
START_SECONDS = 5.0
MANY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
long sysconf(int name) {
    static long (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 224 : real(name);
}
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    (void)pid;
    memset(set, 0, size);
    for (int cpu = 0; cpu < 224 && cpu < (int)(8 * size); cpu++) CPU_SET_S(cpu, size, set);
    return 0;
}
int get_nprocs(void) { return 224; }
int get_nprocs_conf(void) { return 224; }
"""


@pytest.fixture
def dcgm() -> Iterator[FakeDcgm]:
    fake = FakeDcgm(lambda: page(A=61.0, B=80.0))
    yield fake
    fake.close()


@pytest.fixture
def start(tmp_path: Path, dcgm: FakeDcgm) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def one(step_seconds: float = 0.2, **options) -> Running:
        state = tmp_path / "state"
        state.mkdir()
        artefact.write(tmp_path / "fleet.onnx")
        config = (
            "node: n1\nlisten: {host: 127.0.0.1, port: 0}\n"
            f"dcgm: {{url: '{dcgm.url}', interval_seconds: {step_seconds}}}\n"
            f"window: {{step_seconds: {step_seconds}, directory: '{state}'}}\n"
            f"model: {{directory: '{tmp_path}'}}\n"
        )
        started.append(Running(config, tmp_path, **options))
        return started[-1]

    yield one
    for process in started:
        process.kill()


def predicts(process: Running) -> None:
    eventually(lambda: series(process.port).get(PROBABILITY), "a probability")
    # What the runtime says on standard error is no line of ours, and would fail to parse.
    assert [line["level"] for line in process.said() if line["level"] == "error"] == []
    assert process.threads() <= THREADS


def test_r31_one_processor_that_is_not_the_first(start) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("this machine has a single processor")
    process = start(before=lambda: os.sched_setaffinity(0, {allowed[-1]}))
    predicts(process)
    assert os.sched_getaffinity(process.pid) == {allowed[-1]}


def test_r31_a_machine_that_counts_224_processors(start, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to pretend with")
    source, library = tmp_path / "many.c", tmp_path / "many.so"
    source.write_text(MANY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    counted = subprocess.run(
        ["python3", "-c", "import os; print(os.cpu_count())"],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert counted.stdout.strip() == "224"
    predicts(start(environment={"LD_PRELOAD": str(library)}))


class Quota:
    """A control group with half a processor, where this machine lets us make one."""

    def __init__(self) -> None:
        self.folder = Path("/sys/fs/cgroup/cpu") / f"forewarn-test-{os.getpid()}"
        try:
            self.folder.mkdir()
            (self.folder / "cpu.cfs_quota_us").write_text("50000")
            (self.folder / "cpu.cfs_period_us").write_text("100000")
        except OSError as error:
            pytest.skip(f"no control group to limit the processor: {error.strerror}")

    def join(self) -> None:
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def throttled(self) -> int:
        lines = (self.folder / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["nr_throttled"])

    def close(self) -> None:
        with suppress(OSError):
            self.folder.rmdir()


@pytest.fixture
def quota() -> Iterator[Quota]:
    quota = Quota()
    yield quota
    quota.close()


def test_r31_half_a_processor_is_never_used_up_when_idle(quota: Quota, start) -> None:
    process = start(step_seconds=60.0, before=quota.join)
    time.sleep(START_SECONDS)
    throttled, spent = quota.throttled(), process.cpu_seconds()
    deadline = time.monotonic() + WATCHED_SECONDS
    while time.monotonic() < deadline:
        assert get(process.port)[0] == 200
        time.sleep(WATCHED_SECONDS / 4)
    assert quota.throttled() == throttled
    # Four pages included; the kernel counts in hundredths of a second.
    assert process.cpu_seconds() - spent <= 0.01 * WATCHED_SECONDS + 0.02
    process.kill()


READ_ONLY = (
    'mount --bind "$0" "$0" && mount -o remount,ro,bind / && '
    '{ ! mountpoint -q /tmp || mount -o remount,ro,bind /tmp; } && exec "$@"'
)


def test_r31_nothing_to_write_to_but_its_own_folder(start, tmp_path: Path) -> None:
    alone = ("unshare", "--mount", "sh", "-c", READ_ONLY, str(tmp_path / "state"))
    (tmp_path / "probe").mkdir()
    probe = [*alone[:-1], str(tmp_path / "probe"), "touch", str(tmp_path / "not-written")]
    said = subprocess.run(probe, capture_output=True, text=True, check=False).stderr
    if "Read-only" not in said:
        pytest.skip(f"no read-only file system to be had here: {said.strip()}")
    nowhere = {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    predicts(start(prefix=alone, environment=nowhere))
    eventually((tmp_path / "state" / "window.bin").exists, "the saved window")
