"""The tokenizer that the other contracts lean on."""

from __future__ import annotations

import pytest

from tests.contracts.promql import reads


@pytest.mark.parametrize(
    ("expr", "metrics"),
    [
        ("up", {"up"}),
        ("sum(rate(a_total[5m]))", {"a_total"}),
        ("max by (node, cause) (a) >= on (cause) group_left () b:c:d", {"a", "b:c:d"}),
        ("max(a) by (node)", {"a"}),
        ("a unless on (node) (b == 1)", {"a", "b"}),
        ('a{x="b{c}", y=~"d|e"} offset 5m and bool', {"a"}),
        ("topk(3, a) / 1e3 + Inf # and not b", {"a"}),
        ("time() - a", {"a"}),
    ],
)
def test_metrics_of(expr: str, metrics: set[str]) -> None:
    assert reads(expr).metrics == metrics


def test_matchers_keep_operator_and_value() -> None:
    (selector,) = reads('a{state!~"ok|degraded", node="n1"}').selectors
    assert selector.matchers == {"state": ("!~", "ok|degraded"), "node": ("=", "n1")}


def test_grouping_labels_are_not_metrics() -> None:
    assert reads("max by (node, gpu) (a) * on (node) group_left (domain) b").grouped_by == {
        "node",
        "gpu",
        "domain",
    }


def test_a_selector_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="without a metric name"):
        reads('{__name__=~"a.*"}')
