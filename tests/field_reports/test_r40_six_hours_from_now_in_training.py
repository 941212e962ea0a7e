"""R40: a clock that ran six hours ahead leaves a hole; nothing is learned across it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.history.access import Server
from model.history.chunks import Chunks, Wanted
from model.history.question import Address, Question
from model.history.reader import Reader
from model.history.record import assemble
from model.history.timeline import LeftOut, timeline
from model.sources import dcgm_series, series
from model.sources.series import Steps
from tests.factories.history import START, at, lose, record
from tests.model.sources.test_dcgm_series import One

HOUR = Steps(START, 60.0, 60)
TEMPERATURE = "gpu_temperature_celsius"


def test_r40_a_jump_of_the_clock_is_a_border() -> None:
    one = record(1_440)
    lose(one, slice(None), 480, 840)
    told = timeline(one, [])
    assert [(s.start, s.end) for s in told.stretches] == [(at(0), at(480)), (at(840), at(1_440))]
    assert told.left_out_hours == {LeftOut.GAP: 6}


def samples() -> list[tuple[float, str]]:
    """An hour: 40 samples out of order, 12 told again with another value, 3 with the same."""
    told = [(at(step), str(40 + step % 20)) for step in range(60)]
    told[10:50] = told[10:50][::-1]
    again = [(at(step), "77") for step in range(12)]
    return [*told, *again, *told[-3:]]


@pytest.mark.parametrize(
    ("name", "read", "uuid"),
    [
        ("forewarn_gpu_temperature_celsius", series.cube, "uuid"),
        ("DCGM_FI_DEV_GPU_TEMP", lambda *asked: dcgm_series.cube(*asked).cube, "UUID"),
    ],
)
def test_r40_order_is_restored_and_what_contradicts_itself_is_missing(name, read, uuid) -> None:
    cube = read([One({"__name__": name, uuid: "A", "gpu": "0"}, samples())], HOUR, [TEMPERATURE])
    rows = cube.gpu["A"][:, 0]
    assert np.isnan(rows[:12]).all()
    assert rows[12:].tolist() == [40 + step % 20 for step in range(12, 60)]
    assert cube.conflicts == 12


def test_r40_what_contradicts_itself_is_counted_up_to_the_report(tmp_path: Path) -> None:
    class Store:
        def query_range(self, query, over):
            first = {"__name__": "forewarn_gpu_temperature_celsius", "uuid": "A", "gpu": "0"}
            return [One(first, samples())]

    wanted = Wanted(Question(), (TEMPERATURE,), START, START + 3_600, Server("http://a:9090"))
    chunks = Chunks(tmp_path, wanted, Reader(Store(), lambda _: None))
    chunks.fetch("n1", [Address("node", "n1")], lambda *_: None)
    past = timeline(assemble(chunks, "n1", [TEMPERATURE], START, START + 3_600), [])
    assert past.conflicts == 12
