from __future__ import annotations

from collections import Counter

import pytest

from tests.run_tiers import RECORDED, TIERS, Report, is_strict, tier_of

CLUSTER = next(tier for tier in TIERS if tier.name == "cluster")


def test_a_test_without_a_marker_is_quick():
    assert tier_of({"parametrize"}) == "quick"


def test_a_test_with_two_markers_counts_for_the_more_demanding():
    assert tier_of({"cluster", "services"}) == "cluster"


def test_every_tier_is_a_marker_that_pytest_knows(pytestconfig):
    known = {line.split(":")[0] for line in pytestconfig.getini("markers")}
    assert {tier.name for tier in TIERS} <= known


def test_a_tier_that_was_left_out_is_listed_with_the_command_that_provides_it():
    lines = Report({CLUSTER: "kube-apiserver in /nowhere"}, strict=False).lines()
    (line,) = (line for line in lines if line.startswith("cluster"))
    assert "SKIPPED, missing: kube-apiserver in /nowhere" in line
    assert line.endswith("make controlplane")
    assert not any(line.startswith("FAILED") for line in lines)


def test_where_every_tier_is_required_the_missing_ones_are_named():
    report = Report({CLUSTER: "kube-apiserver", RECORDED: "/nowhere"}, strict=True)
    assert report.unrun() == ["cluster", "recorded inputs"]
    assert report.lines()[-1].endswith("not run: cluster, recorded inputs")


def test_a_tier_of_which_any_test_skipped_itself_did_not_run_whole():
    report = Report({}, strict=True)
    report.counts["browser"] = Counter(skipped=3)
    report.counts["quick"] = Counter(skipped=1, passed=3)
    report.counts["services"] = Counter(passed=3)
    assert report.unrun() == ["browser", "quick"]


@pytest.mark.parametrize(
    ("environment", "strict"),
    [({}, False), ({"CI": "true"}, True), ({"FOREWARN_REQUIRE_ALL_TIERS": "1"}, True)],
)
def test_ci_requires_every_tier(environment, strict):
    assert is_strict(environment) is strict
