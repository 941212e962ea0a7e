"""A site's past becomes episodes, split by time, each with the one ending that is known."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
import torch

from model.history.access import Server
from model.history.failures import Failure, Sign
from model.history.plan import Plan, PlannedNode
from model.history.question import Question
from model.history.refused import TooLittle
from model.history.regimes import Regime
from model.history.timeline import LeftOut, Stretch, Timeline
from model.schema import Cause
from model.training.fitting.pipeline import same_width
from model.training.fitting.rows import field_weights
from model.training.site import fleet
from model.training.site.past import SHARES, SiteStock, bounds, clipped, trainable
from tests.factories.history import at

HOUR = 60


def failure(step: float, *, uuid: str = "A", cause: Cause = Cause.MEMORY) -> Failure:
    return Failure(at(step), uuid, cause, Sign.XID)


def test_the_splits_cover_the_time_in_order_without_overlap() -> None:
    spans = [bounds(split, 0.0, 100.0) for split in SHARES]
    assert spans[0][0] == 0.0
    assert spans[-1][1] == pytest.approx(100.0)
    assert [a[1] for a in spans[:-1]] == pytest.approx([b[0] for b in spans[1:]])


def test_a_failure_is_known_only_in_the_split_that_it_falls_in() -> None:
    whole = Stretch(at(0), at(102 * HOUR), failure(100 * HOUR))
    assert clipped(whole, at(0), at(20 * HOUR)) == Stretch(at(0), at(20 * HOUR), None)
    late = Stretch(at(20 * HOUR), at(102 * HOUR), failure(100 * HOUR))
    assert clipped(whole, at(20 * HOUR), at(160 * HOUR)) == late


def test_the_days_before_a_failure_of_a_later_split_are_no_quiet_time() -> None:
    whole = Stretch(at(0), at(102 * HOUR), failure(100 * HOUR))
    assert clipped(whole, at(0), at(90 * HOUR)) == Stretch(at(0), at(28 * HOUR), None)
    assert clipped(whole, at(40 * HOUR), at(90 * HOUR)) is None
    assert clipped(whole, at(99 * HOUR), at(160 * HOUR)) is None


def test_a_memory_failure_of_nobody_knows_which_gpu_is_not_learned_from() -> None:
    stretches = (
        Stretch(at(0), at(102 * HOUR), failure(100 * HOUR, uuid="")),
        Stretch(at(0), at(102 * HOUR), failure(100 * HOUR, uuid="", cause=Cause.POWER)),
    )
    (placed,) = trainable([Timeline("n1", stretches, Counter())])
    assert placed.stretches[0] == Stretch(at(0), at(28 * HOUR), None)
    assert placed.stretches[1] == stretches[1]


def regime_at(step: float) -> Regime:
    return Regime(at(step), 50.0)


def stock(one: Timeline, *, hours: float) -> list[Stretch]:
    span = (at(0), at(hours * HOUR))
    return [part.stretch for part in SiteStock(None, [one], [], span, settled=True).parts]


def test_another_regime_cuts_what_learns_and_the_days_before_a_failure_stay_nobodys() -> None:
    quiet = Stretch(at(0), at(100 * HOUR), None)
    ill = Stretch(at(100 * HOUR), at(202 * HOUR), failure(200 * HOUR))
    borders = (regime_at(40 * HOUR), regime_at(150 * HOUR))
    (placed,) = trainable([Timeline("n1", (quiet, ill), Counter(), borders)])
    assert placed.stretches == (
        Stretch(at(0), at(40 * HOUR), None),
        Stretch(at(40 * HOUR), at(100 * HOUR), None),
        Stretch(at(100 * HOUR), at(128 * HOUR), None),
        Stretch(at(150 * HOUR), at(202 * HOUR), failure(200 * HOUR)),
    )


def test_quiet_time_of_an_older_regime_is_left_out_where_the_last_has_a_day_of_it() -> None:
    border = at(40 * HOUR)
    ill = Stretch(at(0), at(12 * HOUR), failure(10 * HOUR))
    quiet = Stretch(at(12 * HOUR), at(200 * HOUR), None)
    (placed,) = trainable([Timeline("n1", (ill, quiet), Counter(), (regime_at(40 * HOUR),))])
    assert stock(placed, hours=64) == [ill, Stretch(border, at(64 * HOUR), None)]
    both = [ill, Stretch(at(12 * HOUR), border, None), Stretch(border, at(60 * HOUR), None)]
    assert stock(placed, hours=60) == both, "too little since: two segments"
    assert stock(placed, hours=36) == [ill, Stretch(at(12 * HOUR), at(36 * HOUR), None)]


def test_other_regimes_are_told_in_one_line() -> None:
    told = fleet.regimes_told(
        [Timeline(f"n{i}", (), Counter(), (regime_at(i * HOUR),)) for i in range(5)]
    )
    assert told == (
        "all GPUs rest at another power since a restart (UTC): n0 by +50 W since 2023-11-15 00:00, "
        "n1 by +50 W since 2023-11-15 01:00, n2 by +50 W since 2023-11-15 02:00 and 2 more; "
        "another dcgm-exporter or driver? Nothing is learned across it",
    )
    assert fleet.regimes_told([Timeline("n1", (), Counter())]) == ()


def test_too_little_quiet_time_is_said_in_hours_with_what_was_left_out() -> None:
    short = Timeline("n1", (Stretch(at(0), at(3 * HOUR), None),), Counter({LeftOut.GAP: 21}))
    hours = {split: SimpleNamespace(quiet_steps=3 * HOUR) for split in SHARES}
    with pytest.raises(TooLittle) as refused:
        fleet.check(hours, [short])
    assert str(refused.value) == (
        "3.0 node hours of quiet time to learn from (split fit), expected at least 24; "
        "1 nodes, 3 node hours usable; left out: gap 21 h"
    )


def test_what_contradicts_itself_is_counted_in_the_report() -> None:
    told = fleet.told([Timeline("n1", (), Counter({LeftOut.COARSE: 48}), conflicts=12)])
    assert told == (
        "1 nodes, 0 node hours usable; left out: coarse 48 h; "
        "12 samples contradict themselves and are missing"
    )


def test_the_report_says_from_when_to_when_there_was_something_to_learn_from() -> None:
    known = Timeline("n1", (Stretch(at(0), at(3 * HOUR), None),), Counter())
    assert fleet.reach([known, Timeline("n2", (), Counter())]) == (
        "history from 2023-11-15 00:00 UTC to 2023-11-15 03:00 UTC"
    )
    assert fleet.reach([]) == ""


def test_a_type_of_gpu_of_which_nothing_was_seen_is_a_warning() -> None:
    nodes = [("n1", "H100"), ("n2", "A100"), ("n3", "A100")]
    plan = Plan(
        server=Server("http://nowhere:9090"),
        question=Question(),
        start=0,
        end=60,
        nodes=tuple(PlannedNode(name, (), (kind,)) for name, kind in nodes),
        fleet=("n1", "n2"),
        shards=1,
        seed=7,
        simulate="none",
    )
    seen = Timeline("n1", (Stretch(at(0), at(9 * HOUR), None),), Counter())
    (line,) = fleet.unseen_types(plan, [seen, Timeline("n2", (), Counter())])
    assert line.startswith("no usable history of any node with A100 (2 nodes)")


def test_nodes_of_fewer_gpus_repeat_theirs_and_none_is_lost() -> None:
    two, three = torch.arange(2.0).reshape(1, 2, 1, 1), torch.zeros((1, 3, 1, 1))
    wide, _ = same_width([two, three])
    assert wide[0, :, 0, 0].tolist() == [0.0, 1.0, 0.0]


def test_without_failures_there_is_nothing_to_weigh_quiet_time_against() -> None:
    assert field_weights({}, 100.0).of(None) == 1.0
