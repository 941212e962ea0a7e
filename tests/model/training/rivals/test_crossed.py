"""On a site's own history a rival is fitted on one half of the nodes and judged on the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from model.schema import BY_NAME, Level
from model.training.episodes.dataset import Episode, episode
from model.training.judging.replay import course, looks
from model.training.rivals.crossed import Crossed, Ready, folds, read_by, ready
from model.training.rivals.rules import FULL, SIMPLE
from simulator.history import record
from simulator.instruments.shown import SHOWN
from simulator.scenario import Scenario

HOUR = 3_600.0
STORM = Scenario("memory-storm", onset_seconds=4 * HOUR, duration_seconds=20 * HOUR, gpu=1)


def watched(node: str, seed: int, story: Scenario | None = None) -> Episode:
    return episode(record(story or Scenario(), node=node, seed=seed, steps=1_560, gpus=2))


@pytest.fixture(scope="module")
def site() -> list[Episode]:
    quiet = [watched(f"n{seed}", seed) for seed in range(4)]
    return [*quiet, watched("bad", 8, STORM), watched("worse", 9, STORM)]


@pytest.fixture(scope="module")
def made(site: list[Episode]) -> Ready:
    return ready(iter(site), dealt(site), 7)


def dealt(site: list[Episode]) -> dict[str, int]:
    return folds([one.node for one in site], ["bad", "worse"])


def test_failed_nodes_are_dealt_evenly(site: list[Episode]) -> None:
    fold = dealt(site)
    assert fold["bad"] != fold["worse"]
    assert Counter(fold.values()) == {0: 3, 1: 3}


def test_all_rivals_of_an_evaluation_stand_beside_a_backtest(made: Ready) -> None:
    assert [one.name for one in made.rivals] == [
        "always healthy", "static rules, simple", "static rules, full", "DCGM health: fail",
        "DCGM health: warn or fail", "PCA, T2 and Q", "isolation forest",
    ]  # fmt: skip
    assert not made.limits


def test_a_nodes_own_past_does_not_change_its_score(site: list[Episode], made: Ready) -> None:
    fold = dealt(site)
    mine = [one for one in site if fold[one.node] == fold["n0"]]
    strange = [replace(one, readings=one.readings * 1.5) if one in mine else one for one in site]
    again = ready(iter(strange), fold, 7)
    other = next(one for one in site if fold[one.node] != fold["n0"])
    hours = other.hours[looks(len(other.hours), 30)]
    for before, after in zip(made.rivals[-2:], again.rivals[-2:], strict=True):
        np.testing.assert_array_equal(
            before.score(mine[0], hours), after.score(mine[0], hours), before.name
        )
        assert (before.score(other, hours) != after.score(other, hours)).any()


def test_what_a_score_means_is_learned_on_the_other_half(site: list[Episode], made: Ready) -> None:
    steps = looks(1_560, 30)
    courses = [course(one, steps) for one in site]
    rules = next(one for one in made.rivals if one.name == "static rules, full")
    scores = [rules.score(one, one.hours[steps]) for one in site]
    rated = rules.rated(courses, scores, 4)
    assert rated.fold.tolist() == [dealt(site)[one.node] for one in site]
    assert len(rated.levels) == 2
    alone = Crossed(rules.name, rules.halves, dict.fromkeys(dealt(site), 0))
    assert alone.rated(courses, scores, 4).levels == (), "nothing is known of an empty half"


def test_what_the_history_does_not_show_is_named(site: list[Episode]) -> None:
    bare = {"gpu_temperature_celsius", "gpu_power_watts"}
    hidden = [name not in bare for name in SHOWN]
    poor = []
    for one in site:
        readings = one.readings.copy()
        readings[:, :, hidden] = np.nan
        poor.append(replace(one, readings=readings))
    made = ready(iter(poor), dealt(site), 7)
    names = [one.name for one in made.rivals]
    assert "static rules, simple" in names
    assert "DCGM health: fail" not in names
    why = dict(made.limits)
    assert why["static rules, simple"].startswith("no node reports gpu_memory_uncorrectable_errors")
    assert "gpu_nvlink_replay_errors_total" in why["DCGM health: fail"]


def test_one_node_has_no_other_half_to_learn_from(site: list[Episode]) -> None:
    made = ready(iter(site[:1]), {"n0": 0}, 7)
    assert [one.name for one in made.rivals][-1] == "DCGM health: warn or fail"
    why = dict(made.limits)["isolation forest"]
    assert why == (
        "not possible: 0 node hours of quiet time on one half of the nodes to judge the other by, "
        "expected at least 48"
    )


def test_every_channel_of_a_rule_is_known_and_of_the_node() -> None:
    for pack in (SIMPLE, FULL):
        assert read_by(pack.values()) <= set(SHOWN)
    assert {BY_NAME[name].level for name in read_by(FULL.values())} == {Level.GPU, Level.NODE}
