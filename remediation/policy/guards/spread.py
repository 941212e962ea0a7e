"""Spreading: in which domains a pod may be placed so that no domain gets too far ahead.

As the scheduler counts: every node that the pod may choose is part of its
domain, also one that is cordoned or ill, unless the rule heeds taints; pods that
are ending do not count any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.facts.demand import any_holds
from remediation.policy.guards.eligibility import HOSTNAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remediation.policy.facts.demand import Spread
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod

# How the name of a node is spelled in the fields that a pod may choose by.
NAME_FIELD = "metadata.name"


def open_domains(
    pod: Pod, nodes: Mapping[str, Node], pods_on: Callable[[str], Iterable[Pod]]
) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return for each rule of `pod` its label and the values of it where it may go."""
    rules = pod.demand.spread
    labels = [rule.topology for rule in rules]
    known = [node for node in nodes.values() if all(label in node.labels for label in labels)]
    return tuple((rule.topology, _open(pod, rule, known, pods_on)) for rule in rules)


def _open(
    pod: Pod, rule: Spread, nodes: Iterable[Node], pods_on: Callable[[str], Iterable[Pod]]
) -> frozenset[str]:
    counts: dict[str, int] = {}
    for node in nodes:
        if not _counts(node, pod, rule):
            continue
        place = node.labels[rule.topology]
        found = sum(_is_counted(one, pod, rule) for one in pods_on(node.name))
        counts[place] = counts.get(place, 0) + found
    least = min(counts.values(), default=0)
    if len(counts) < rule.least_domains or _is_open_ended(pod, rule):
        least = 0
    own = int(rule.selects(pod.labels, pod.labels))
    return frozenset(place for place, count in counts.items() if count + own - least <= rule.most)


def _is_counted(one: Pod, pod: Pod, rule: Spread) -> bool:
    alive = not one.finished and one.ends_at is None and one.uid != pod.uid
    return alive and one.namespace == pod.namespace and rule.selects(one.labels, pod.labels)


def _counts(node: Node, pod: Pod, rule: Spread) -> bool:
    """Return whether `node` is part of a domain for this rule of `pod`."""
    if rule.heeds_affinity:
        if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
            return False
        if not any_holds(pod.demand.terms, {**node.labels, NAME_FIELD: node.name}):
            return False
    return not rule.heeds_taints or pod.demand.tolerates(node.taints)


def _is_open_ended(pod: Pod, rule: Spread) -> bool:
    """Whether machines outside the pool are domains too, and have none of its like."""
    chosen = bool(pod.node_selector) or pod.demand.terms is not None
    return rule.topology == HOSTNAME and not (rule.heeds_affinity and chosen)
