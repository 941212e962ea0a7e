"""Failure domains: what shares a rack, a coolant loop, a power feed or a switch moves together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.bounds.limits import DomainLimit, Limits
    from remediation.policy.facts.node import Node

Crowd = tuple[str, str | None]
"""A domain: the label and its value, None for the nodes that lack the label."""


def crowd_of(node: Node | None, domain: DomainLimit) -> Crowd:
    """Return the domain that `node` is in; an empty value is as good as none."""
    value = node.labels.get(domain.label) if node is not None else None
    return domain.label, value or None


def allowed_in(crowd: Crowd, domain: DomainLimit, limits: Limits) -> int:
    """Return how many nodes of `crowd` may be in flight."""
    return domain.concurrency if crowd[1] is not None else limits.strictest_domain


def crowded(
    names: Iterable[str], nodes: Mapping[str, Node], limits: Limits
) -> tuple[Crowd, int] | None:
    """Return the first domain with more of `names` than it allows and its limit, or None."""
    names = tuple(names)
    for domain in limits.domains:
        counts: dict[Crowd, int] = {}
        for name in names:
            crowd = crowd_of(nodes.get(name), domain)
            counts[crowd] = counts.get(crowd, 0) + 1
            allowed = allowed_in(crowd, domain, limits)
            if counts[crowd] > allowed:
                return crowd, allowed
    return None


def fullest(
    names: Iterable[str], nodes: Mapping[str, Node], limits: Limits
) -> tuple[int, int] | None:
    """Return used and allowed of the domain with the least left; None without domain limits."""
    names = tuple(names)
    found: list[tuple[int, int]] = []
    for domain in limits.domains:
        crowds = [crowd_of(nodes.get(name), domain) for name in names]
        found += [(crowds.count(one), allowed_in(one, domain, limits)) for one in set(crowds)]
        found.append((0, domain.concurrency))
    return min(found, key=lambda use: use[1] - use[0], default=None)


def name_of(crowd: Crowd) -> str:
    """Name a domain for people."""
    label, value = crowd
    return f"{label}={value}" if value is not None else f"nodes without the label {label}"
