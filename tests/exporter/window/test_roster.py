"""Which GPUs must report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exporter.readings import Departure, LeftAfter
from exporter.window.roster import Declared, Roster
from tests.factories.sources import A, B, gpus

C = "GPU-cccc"
NOTHING = Declared()


def uuids(roster: Roster, declared: Declared = NOTHING) -> list[str]:
    return [gpu.uuid for gpu in roster.expected(declared)]


def test_a_gpu_that_is_lost_stays_expected() -> None:
    roster = Roster().saw(gpus(A, B)).saw(gpus(A))
    assert uuids(roster) == [A, B]
    assert roster.expected_count(Declared()) == 2


def test_a_replaced_board_takes_its_predecessors_place() -> None:
    roster = Roster().saw(gpus(A, B)).saw(gpus(A)).saw(gpus(A, C))
    assert uuids(roster) == [A, C]


def test_before_the_first_page_nobody_knows() -> None:
    assert Roster().expected_count(Declared()) is None
    assert uuids(Roster()) == []


def test_a_declared_absence_ends_the_expectation() -> None:
    roster = Roster().saw(gpus(A, B)).saw(gpus(A))
    away = Declared(away=frozenset({B}))
    assert uuids(roster, away) == [A]
    assert roster.expected_count(away) == 1


def test_listed_gpus_are_expected_before_they_were_ever_seen() -> None:
    listed = Declared(uuids=(A, B))
    assert uuids(Roster(), listed) == [A, B]
    assert Roster().expected_count(listed) == 2


def test_a_count_is_expected_beyond_what_was_seen() -> None:
    roster = Roster().saw(gpus(A))
    assert roster.expected_count(Declared(count=2)) == 2
    assert uuids(roster, Declared(count=2)) == [A]


@pytest.mark.parametrize(
    ("declared", "installed"),
    [
        (Declared(), 2),
        (Declared(away=frozenset({A})), 2),
        (Declared(count=1), 2),
        (Declared(uuids=(A,)), 2),
        (Declared(count=8), 8),
        (Declared(uuids=(A, B, C), away=frozenset({C})), 3),
    ],
)
def test_a_gpu_that_is_lost_or_away_is_still_the_nodes(declared: Declared, installed: int) -> None:
    roster = Roster().saw(gpus(A, B)).saw(gpus(B))
    assert roster.installed_count(declared) == installed
    assert Roster().installed_count(Declared()) is None


def test_a_gpu_that_was_away_before_the_first_page_is_not_expected() -> None:
    roster = Roster().saw(gpus(A))
    assert roster.expected_count(Declared(count=2, away=frozenset({C}))) == 1
    assert roster.expected_count(Declared(count=2, away=frozenset({B, C}))) == 1
    assert roster.expected_count(Declared(away=frozenset({C}))) == 1


def test_how_a_gpu_left_is_remembered_until_it_is_back_or_forgotten() -> None:
    left = Departure(B, LeftAfter.RELOAD, busy=False, hardware_xid=False)
    away = Roster().saw(gpus(A, B)).saw(gpus(A), [left])
    assert away.departed == away.saw(gpus(A)).departed == (left,)
    worse = Departure(B, LeftAfter.RELOAD, busy=False, hardware_xid=True)
    assert away.saw(gpus(A), [worse]).departed == (worse,)
    assert away.saw(gpus(A, B)).departed == ()
    assert away.forgetting_departures() == replace(away, departed=())


def test_a_later_life_knows_best_how_a_gpu_left() -> None:
    left = Departure(B, LeftAfter.RELOAD, busy=False, hardware_xid=False)
    away = Roster().saw(gpus(A, B)).saw(gpus(A), [left])
    assert away.followed_by(Roster().saw(gpus(A))).departed == (left,)
    assert away.followed_by(Roster().saw(gpus(A, B))).departed == ()
    assert away.followed_by(Roster().saw(gpus(A, B)).saw(gpus(A), [left])).departed == (left,)
