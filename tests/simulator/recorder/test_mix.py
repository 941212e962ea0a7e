"""The mix of the field: complete, in the order of what was published, reproducible."""

from __future__ import annotations

import numpy as np
import pytest

from model.schema import Cause
from simulator import mix
from simulator.faults import STORIES
from simulator.recorder import training_set
from simulator.scenario import HEALTHY


def test_every_fault_has_a_share_and_all_add_up_to_one() -> None:
    faults = {kind for kind, story in STORIES.items() if story.cause is not None}
    shares = mix.shares()
    assert set(shares) == faults
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) > 0


def test_causes_come_in_the_order_of_the_published_table() -> None:
    by_cause = dict.fromkeys(Cause, 0.0)
    for kind, share in mix.shares().items():
        cause = STORIES[kind].cause
        assert cause is not None
        by_cause[cause] += share
    assert by_cause[Cause.DEVICE] > by_cause[Cause.MEMORY] > by_cause[Cause.INTERCONNECT]
    assert by_cause[Cause.INTERCONNECT] > by_cause[Cause.FACILITY] > by_cause[Cause.THERMAL]
    assert by_cause[Cause.FACILITY] == pytest.approx(mix.FACILITY_RATIO)


def test_nodes_fail_as_often_as_the_rate_says_and_most_do_nothing() -> None:
    rate = 0.05
    wanted = training_set.field(4_000, days=7.0, seed=1, failures_per_node_day=rate)
    kinds = [str(one.scenario) for one in wanted]
    failing = np.mean([STORIES[kind].cause is not None for kind in kinds])
    assert failing == pytest.approx(1 - np.exp(-7 * rate), abs=0.03)
    unlike = np.mean([STORIES[kind].lookalike for kind in kinds])
    assert unlike == pytest.approx((1 - failing) * (1 - np.exp(-0.7)), abs=0.03)
    assert len({one.node for one in wanted}) == len({one.seed for one in wanted}) == 4_000
    again = training_set.field(4_000, days=7.0, seed=1, failures_per_node_day=rate)
    assert again == wanted
    assert training_set.field(4_000, days=7.0, seed=2, failures_per_node_day=rate) != wanted


def test_at_the_published_rate_a_week_is_quiet_on_almost_every_node() -> None:
    wanted = training_set.field(
        3_000, days=7.0, seed=1, failures_per_node_day=mix.FAILURES_PER_NODE_DAY
    )
    failing = [one for one in wanted if STORIES[str(one.scenario)].cause is not None]
    assert 0.015 < len(failing) / 3_000 < 0.04
    assert any(one.scenario == HEALTHY for one in wanted)
