"""What a pod demands, read from the server's JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remediation.kube.observe import read_pod
from remediation.kube.quantity import quantity
from remediation.policy.facts.demand import Company, Demand, Requirement, Spread, Toleration


def demand(**spec: Any) -> Demand:
    document = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": spec}
    _, held = read_pod(json.dumps(document).encode(), ("nvidia.com/gpu",))
    return held.value.demand


def container(restart: str = "", **requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500m", 0.5),
        ("2", 2.0),
        (3, 3.0),
        ("64Gi", 64 * 2.0**30),
        ("1e3", 1000.0),
        ("1.5k", 1500.0),
        ("12E", 12e18),
        ("2Ei", 2.0**61),
        ("100n", 1e-7),
    ],
)
def test_a_quantity_is_a_number_in_base_units(text: str | float, number: float) -> None:
    assert quantity(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "Gi", "1.2.3", "5 apples", "1ki"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        quantity(text)


def test_containers_add_up_and_the_largest_start_counts_where_it_is_larger() -> None:
    found = demand(
        containers=[container(cpu="1", memory="1Gi"), container(cpu="500m")],
        initContainers=[container(cpu="4"), container(memory="512Mi")],
        overhead={"cpu": "250m"},
    )
    assert found.requests == {"cpu": 4.25, "memory": 2.0**30}


def test_a_sidecar_counts_beside_all_that_comes_after_it() -> None:
    found = demand(
        containers=[container(cpu="2")],
        initContainers=[container(cpu="3"), container("Always", cpu="1"), container(cpu="2500m")],
    )
    assert found.requests == {"cpu": 3.5}


def test_a_limit_without_a_request_is_one() -> None:
    limits = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}
    assert demand(containers=[limits]).requests == {"nvidia.com/gpu": 8.0}


def test_affinity_and_tolerations_are_read() -> None:
    expressions = [{"key": "zone", "operator": "In", "values": ["a", "b"]}]
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    terms = [{"matchExpressions": expressions, "matchFields": fields}]
    chosen = {"matchLabels": {"app": "s"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}
    rule = "requiredDuringSchedulingIgnoredDuringExecution"
    found = demand(
        affinity={
            "nodeAffinity": {rule: {"nodeSelectorTerms": terms}},
            "podAntiAffinity": {rule: [{"topologyKey": "host", "labelSelector": chosen}]},
            "podAffinity": {rule: [{"topologyKey": "rack", "namespaces": ["other"]}]},
        },
        tolerations=[{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        resourceClaims=[{"name": "gpu"}],
    )
    assert found.terms == (
        (
            Requirement("zone", "In", ("a", "b")),
            Requirement("metadata.name", "In", ("n1",)),
        ),
    )
    selector = (Requirement("app", "In", ("s",)), Requirement("x", "Exists"))
    assert found.apart == (Company("host", selector),)
    assert found.near == (Company("rack", None, elsewhere=True),)
    assert found.tolerations == (Toleration("gpu", "Exists", "", "NoSchedule"),)
    assert found.devices


def test_rules_of_spreading_are_read_but_for_mere_wishes() -> None:
    chosen = {"labelSelector": {"matchLabels": {"app": "x"}}}
    found = demand(
        topologySpreadConstraints=[
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **chosen},
            {
                "maxSkew": 1,
                "topologyKey": "rack",
                "whenUnsatisfiable": "DoNotSchedule",
                "matchLabelKeys": ["pod-template-hash"],
                "minDomains": 3,
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
            },
            {"maxSkew": 1, "topologyKey": "row", "whenUnsatisfiable": "ScheduleAnyway"},
        ]
    )
    assert found.spread == (
        Spread(topology="zone", selector=(Requirement("app", "In", ("x",)),), most=2),
        Spread(
            topology="rack",
            selector=None,
            most=1,
            keys=("pod-template-hash",),
            least_domains=3,
            heeds_affinity=False,
            heeds_taints=True,
        ),
    )


def test_a_pod_that_demands_nothing_demands_nothing() -> None:
    assert demand(containers=[{}]) == Demand()


def test_priority_and_whom_it_may_preempt_are_read() -> None:
    plain = demand()
    assert (plain.priority, plain.preempts) == (0, True)
    polite = demand(priority=-5, preemptionPolicy="Never")
    assert (polite.priority, polite.preempts) == (-5, False)
