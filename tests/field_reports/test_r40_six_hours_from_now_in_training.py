"""R40: a clock that ran six hours ahead leaves a hole; nothing is learned across it."""

from __future__ import annotations

from model.history.timeline import LeftOut, timeline
from tests.factories.history import at, lose, record


def test_r40_a_jump_of_the_clock_is_a_border() -> None:
    one = record(1_440)
    lose(one, slice(None), 480, 840)
    told = timeline(one, [])
    assert [(s.start, s.end) for s in told.stretches] == [(at(0), at(480)), (at(840), at(1_440))]
    assert told.left_out_hours == {LeftOut.GAP: 6}
