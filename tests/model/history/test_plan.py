"""A plan is fixed once: the same for whoever goes on with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.history import planning
from model.history.access import Server
from model.history.arguments import Asked
from model.history.plan import Plan, PlannedNode, choose
from model.history.question import Address, Found, Question
from model.history.refused import AccessRefused, PlanRefused
from tests.factories.history import START

DAY = 86_400


def node(name: str, kind: str = "H100") -> PlannedNode:
    return PlannedNode(name, (Address("node", name),), (kind,))


def plan(count: int = 7, **changes) -> Plan:
    nodes = tuple(node(f"n{place}") for place in range(count))
    told = {
        "server": Server("http://a:9090"),
        "question": Question(),
        "start": START,
        "end": START + DAY,
        "nodes": nodes,
        "fleet": ("n0",),
        "shards": 3,
        "seed": 7,
        "simulate": "none",
    }
    return Plan(**(told | changes))


def asked(**changes) -> Asked:
    told = {
        "server": Server("http://a:9090"),
        "question": Question(),
        "start": START,
        "end": START + DAY,
        "incidents": b"",
        "origin": "",
    }
    return Asked(**(told | changes))


def test_every_node_is_in_exactly_one_share() -> None:
    one = plan()
    shares = [one.shard(index) for index in range(3)]
    assert sorted(n.name for share in shares for n in share) == [f"n{i}" for i in range(7)]
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    with pytest.raises(PlanRefused, match="shard 3: expected 0 to 2"):
        one.shard(3)


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    planning.write(tmp_path, plan(), b"")
    assert planning.load(tmp_path) == plan()
    (tmp_path / "plan.json").write_text('{"start": "yesterday"}')
    with pytest.raises(PlanRefused, match=r"plan.json: not a plan: .*start"):
        planning.load(tmp_path)


def test_models_depend_on_the_data_and_not_on_who_carries_the_plan_out() -> None:
    other = plan(server=Server("http://b:9090", token_file="/token"), shards=9)
    assert other.digest == plan().digest
    assert plan(schedule="tiny").digest != plan().digest
    assert plan(server=Server("http://a:9090", tenant="b")).digest != plan().digest
    assert plan(seed=8).digest != plan().digest
    assert plan(incidents="abc").digest != plan().digest


def test_going_on_without_an_end_of_time_keeps_the_plans_own() -> None:
    later = asked(start=START + 600, end=START + DAY + 600)
    planning.agrees(plan(), later, until=False)
    with pytest.raises(PlanRefused, match="another --until"):
        planning.agrees(plan(), later, until=True)
    with pytest.raises(PlanRefused, match="of another list of --incidents: give another --work"):
        planning.agrees(plan(), asked(incidents=b"x"), until=False)
    with pytest.raises(PlanRefused, match="of another --tenant: give another --work"):
        planning.agrees(plan(), asked(server=Server("http://a:9090", tenant="b")), until=False)
    with pytest.raises(PlanRefused, match="of another --seed and another --simulate: give"):
        planning.holds(plan(), {"seed": 8, "simulate": "tiny", "schedule": "full"})
    planning.holds(plan(), {"seed": None, "simulate": "none"})


def test_a_fleet_has_the_nodes_that_failed_and_every_type_of_gpu() -> None:
    found = [Found(f"h{i}", (), ("H100",)) for i in range(40)]
    found += [Found(f"a{i}", (), ("A100",)) for i in range(3)]
    chosen = choose(found, 6, 7, {"h31"})
    assert len(chosen) == 6
    assert "h31" in chosen
    assert sum(name.startswith("a") for name in chosen) >= 2
    assert chosen == choose(found, 6, 7, {"h31"})


def test_a_fleet_has_nodes_of_every_size() -> None:
    found = [Found(f"big{i}", (), ("H100",), 8) for i in range(40)]
    found += [Found(f"small{i}", (), ("H100",), 4) for i in range(2)]
    chosen = choose(found, 6, 7, ())
    assert sum(name.startswith("small") for name in chosen) == 2


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"url": "prometheus:9090"}, "expected http://<prometheus>:9090"),
        ({"url": "http://u:p@a:9090"}, "without user name or password"),
        ({"url": "http://a:9090/api/v1/query_range"}, "up to /api/v1, without it"),
        ({"url": "http://a:9090", "username_file": "/u"}, "a user name file and a password file"),
        ({"url": "http://a:9090", "ca_file": "/none"}, "/none: no such file"),
    ],
)
def test_a_wrong_address_or_credential_is_one_clear_line(told, words) -> None:
    with pytest.raises(AccessRefused, match=words):
        Server(**told).access()


def test_a_pod_waits_for_what_another_makes_and_not_for_ever() -> None:
    rests: list[float] = []
    planning.wait(lambda: len(rests) == 3, 60.0, rests.append, "plan")
    assert len(rests) == 3
    with pytest.raises(
        PlanRefused, match="no plan after 20 s; `forewarn-model train --only fleet`"
    ):
        planning.wait(lambda: False, 20.0, rests.append, "plan")


def test_more_shares_than_nodes_leave_some_empty() -> None:
    assert plan(2).shard(2) == ()
