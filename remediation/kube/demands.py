"""What a pod demands of its node, read from its spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.kube.quantity import quantity
from remediation.policy.facts.demand import Company, Demand, Requirement, Spread, Term, Toleration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.kube import wire_pods

# An init container that goes on running beside the others.
_SIDECAR = "Always"
_PREEMPTS_NOBODY = "Never"


def read_demand(spec: wire_pods.PodSpec, status: wire_pods.PodStatus | None = None) -> Demand:
    """Return the required rules of one pod; raises `ValueError` for what is no quantity."""
    affinity = spec.affinity
    node = affinity.node_affinity if affinity is not None else None
    required = node.required if node is not None else None
    return Demand(
        requests=_requests(spec),
        terms=read_terms(required.node_selector_terms) if required is not None else None,
        tolerations=tuple(
            Toleration(one.key, one.operator, one.value, one.effect)
            for one in spec.tolerations or ()
        ),
        near=_company(affinity.pod_affinity if affinity is not None else None),
        apart=_company(affinity.pod_anti_affinity if affinity is not None else None),
        spread=_spread(spec.topology_spread_constraints),
        devices=bool(spec.resource_claims)
        or (status is not None and status.extended_resource_claim_status is not None),
        priority=spec.priority or 0,
        preempts=spec.preemption_policy != _PREEMPTS_NOBODY,
    )


def read_terms(terms: Iterable[wire_pods.NodeTerm] | None) -> tuple[Term, ...]:
    """Return node selector terms; fields are chosen by as labels of the same name."""
    return tuple(
        tuple(
            Requirement(one.key, one.operator, tuple(one.values or ()))
            for one in (*(term.match_expressions or ()), *(term.match_fields or ()))
        )
        for term in terms or ()
    )


def amounts(resources: Mapping[str, str | int | float] | None) -> dict[str, float]:
    """Return quantities in base units."""
    return {name: quantity(text) for name, text in (resources or {}).items()}


def _requests(spec: wire_pods.PodSpec) -> dict[str, float]:
    """Return what the scheduler reserves: all containers together, or the largest start.

    A sidecar counts with the containers, and with every start after it.
    """
    running = _sum(_asked(one) for one in spec.containers or ())
    beside: dict[str, float] = {}
    peak: dict[str, float] = {}
    for one in spec.init_containers or ():
        if one.restart_policy == _SIDECAR:
            beside = _sum((beside, _asked(one)))
            peak = _larger(peak, beside)
        else:
            peak = _larger(peak, _sum((beside, _asked(one))))
    return _sum((_larger(_sum((running, beside)), peak), amounts(spec.overhead)))


def _asked(container: wire_pods.Container) -> dict[str, float]:
    resources = container.resources
    if resources is None:
        return {}
    # Without a request the limit is one.
    return {**amounts(resources.limits), **amounts(resources.requests)}


def _company(affinity: wire_pods.PodAffinity | None) -> tuple[Company, ...]:
    if affinity is None:
        return ()
    return tuple(
        Company(
            topology=one.topology_key,
            selector=_selector(one.label_selector),
            elsewhere=bool(one.namespaces) or one.namespace_selector is not None,
        )
        for one in affinity.required or ()
    )


def _spread(rules: Iterable[wire_pods.SpreadRule] | None) -> tuple[Spread, ...]:
    """Return the rules that keep a pod pending; `ScheduleAnyway` is only a preference."""
    return tuple(
        Spread(
            topology=one.topology_key,
            selector=_selector(one.label_selector),
            most=one.max_skew,
            keys=tuple(one.match_label_keys or ()),
            least_domains=one.min_domains or 1,
            heeds_affinity=one.node_affinity_policy != "Ignore",
            heeds_taints=one.node_taints_policy == "Honor",
        )
        for one in rules or ()
        if one.when_unsatisfiable != "ScheduleAnyway"
    )


def _selector(selector: wire_pods.LabelSelector | None) -> Term | None:
    if selector is None:
        return None
    equal = [Requirement(k, "In", (v,)) for k, v in (selector.match_labels or {}).items()]
    rest = [
        Requirement(one.key, one.operator, tuple(one.values or ()))
        for one in selector.match_expressions or ()
    ]
    return (*equal, *rest)


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0.0) + amount
    return total


def _larger(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    names = {*one, *other}
    return {name: max(one.get(name, 0.0), other.get(name, 0.0)) for name in names}
