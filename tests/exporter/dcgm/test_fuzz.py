"""Arbitrary bytes and mutated real bodies: nothing raises, and no number is invented."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.dcgm import identity, text
from exporter.dcgm.scrape import _wanted
from exporter.dcgm.watch import PageWatch
from exporter.readings import Place
from model.schema import BY_NAME
from model.sources import dcgm

RELAXED = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
JUNK = (
    b"NaN", b"-1", b"+Inf", b"9223372036854775794", b"1e400", b"0x1F", b"1_000", b"\xc2\xb2",
    b"\xff", b'"', b"\\", b"{", b"}", b",", b" ", b"\t", b"\r\n", b"\n", b"<<<NULL>>>",
    b"# EOF\n", b"", b"2147483647",
)  # fmt: skip
SUMS = {field.channel for field in dcgm.FIELDS if field.per_link}
MADE = {"gpu_temperature_margin_celsius", "gpu_shutdown_margin_celsius", "gpu_memory_total_bytes"}
COUNTED = {*dcgm.EVENTS.values(), "gpu_unchanged_seconds", "node_dcgm_channels_lost"}


def judged(body: bytes, watch: PageWatch, now: float) -> None:
    """Read as the source does; every plain value must be a number of the body in our unit."""
    page = text.read(body, _wanted)
    folded = identity.fold(page.samples, whole=page.whole)
    seen = watch.see(page.samples, folded, now) if page.whole else watch.glance(folded)
    assert not seen.values.keys() & seen.missing.keys()
    written = {number for number in map(_number, re.split(rb"[\s}]+", body)) if number is not None}
    for place, value in seen.values.items():
        assert BY_NAME[place.channel].plausible(value), (place, value)
        assert place.channel in SUMS | MADE | COUNTED or value in _readings(place, written)


def _number(token: bytes) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None


def _readings(place: Place, written: set[float]) -> set[float]:
    found: set[float] = set()
    for field in dcgm.FIELDS:
        if field.channel == place.channel:
            found |= {0.0, 1.0} if field.flag else {number * field.scale for number in written}
    rounded = {1.0} if BY_NAME[place.channel].unit == "ratio" else set()
    return found | rounded


def mutate(body: bytes, random: Random, times: int) -> bytes:
    """Put junk over, into or in place of some bytes, lines or ends of lines."""
    for _ in range(times):
        at = random.randrange(len(body) + 1)
        span = random.choice((0, 1, 1, 3, 40))
        body = body[:at] + random.choice(JUNK) + body[at + span :]
    if random.random() < 0.3:
        lines = body.split(b"\n")
        random.shuffle(lines)
        body = b"\n".join(lines)
    return body[: random.randrange(len(body) + 1)] if random.random() < 0.2 else body


@pytest.fixture
def bodies(shared_data: Path) -> list[bytes]:
    files = sorted((shared_data / "dcgm").glob("*.prom"))
    return [path.read_bytes()[:20_000] for path in files]


@given(st.binary(max_size=2_000))
@RELAXED
def test_any_bytes_at_all_are_survived(body: bytes) -> None:
    judged(body, PageWatch(90.0), 0.0)


@given(st.lists(st.text(max_size=40), max_size=8), st.text(max_size=30))
@RELAXED
def test_any_labels_and_value_are_survived(names: list[str], value: str) -> None:
    labels = ",".join(f'{name}="{name}"' for name in names)
    body = f'DCGM_FI_DEV_GPU_TEMP{{UUID="GPU-a",{labels}}} {value}\n'
    judged(body.encode("utf-8", "surrogatepass"), PageWatch(90.0), 0.0)


@given(st.integers(0, 10**9), st.integers(0, 30))
@RELAXED
def test_mutated_real_bodies_one_after_another_are_survived(
    bodies: list[bytes], seed: int, times: int
) -> None:
    random = Random(seed)
    watch = PageWatch(90.0)
    for step in range(3):
        judged(mutate(random.choice(bodies), random, times), watch, 30.0 * step)
