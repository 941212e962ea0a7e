"""Real sockets: addresses, sessions, authentication, expansion, gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import requests

from simulator.endpoints.redfish.bmc import Bmc, Credentials, Sessions
from simulator.fleet import Fleet, lay_out
from simulator.physics.workload import Workload
from simulator.serving import ServedFleet
from tests.simulator.endpoints.readings import reading_at
from tests.simulator.histories import HOUR, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCOUNT = Credentials("reader", "swordfish")
SESSIONS = "/redfish/v1/SessionService/Sessions"


@pytest.fixture(scope="module")
def served() -> Iterator[ServedFleet]:
    plan = lay_out(nodes=2, racks=1, seed=7, workload=Workload.TRAINING)
    fleet = Fleet(plan, monotonic=lambda: 0.0, speed=1.0, prefill_seconds=600.0)
    with ServedFleet(fleet, ACCOUNT, monotonic=lambda: 0.0) as running:
        yield running


@pytest.fixture
def client() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


def test_each_node_has_two_addresses_of_its_own(
    served: ServedFleet, client: requests.Session
) -> None:
    urls = [url for a in served.addresses for url in (a.dcgm_url, a.redfish_url)]
    assert len(set(urls)) == 4
    for address in served.addresses:
        answer = client.get(address.dcgm_url, timeout=5)
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert f'Hostname="{address.node}"' in answer.text
    health = served.addresses[0].dcgm_url.replace("/metrics", "/health")
    assert client.get(health, timeout=5).text == "OK"
    assert client.get(health + "z", timeout=5).status_code == 404


def test_only_the_root_is_readable_without_logging_in(
    served: ServedFleet, client: requests.Session
) -> None:
    bmc = served.addresses[0].redfish_url
    for root in ("/redfish/v1", "/redfish/v1/"):
        assert client.get(bmc + root, timeout=5).json()["Vendor"] == "NVIDIA"
    assert client.get(bmc + "/redfish/v1/Chassis", timeout=5).status_code == 401
    wrong = client.get(bmc + "/redfish/v1/Chassis", auth=("reader", "x"), timeout=5)
    assert wrong.status_code == 401
    right = client.get(bmc + "/redfish/v1/Chassis", auth=("reader", "swordfish"), timeout=5)
    assert right.json()["Members@odata.count"] == 9


def test_a_session_opens_reads_and_ends(served: ServedFleet, client: requests.Session) -> None:
    bmc = served.addresses[1].redfish_url
    account = {"UserName": "reader", "Password": "swordfish"}
    opened = client.post(bmc + SESSIONS, json=account, timeout=5)
    assert opened.status_code == 201
    token = {"X-Auth-Token": opened.headers["X-Auth-Token"]}
    place = bmc + opened.headers["Location"]
    assert client.get(bmc + "/redfish/v1/Systems", headers=token, timeout=5).status_code == 200
    assert client.get(bmc + SESSIONS, headers=token, timeout=5).json()["Members@odata.count"] == 1
    assert client.delete(place, headers=token, timeout=5).status_code == 204
    assert client.get(bmc + "/redfish/v1/Systems", headers=token, timeout=5).status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"UserName": "reader", "Password": "no"}', 401),
        ('{"UserName": "reader"}', 400),
        ("[1", 400),
        ("", 400),
    ],
)
def test_a_bad_log_in_is_refused(
    served: ServedFleet, client: requests.Session, body: str, status: int
) -> None:
    answer = client.post(served.addresses[0].redfish_url + SESSIONS, data=body, timeout=5)
    assert answer.status_code == status
    assert "X-Auth-Token" not in answer.headers


def test_expansion_brings_members_with_their_readings(
    served: ServedFleet, client: requests.Session
) -> None:
    url = served.addresses[0].redfish_url + "/redfish/v1/Chassis/Chassis_0/Sensors"
    client.auth = ("reader", "swordfish")
    members = client.get(url + "?$expand=.($levels=1)", timeout=5).json()["Members"]
    assert all("Reading" in member for member in members)
    assert list(client.get(url, timeout=5).json()["Members"][0]) == ["@odata.id"]
    assert client.get(url + "/nothing", timeout=5).status_code == 404
    assert client.patch(url, timeout=5).status_code == 405


def test_there_is_room_for_eight_sessions_and_idle_ones_end() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    opened = [sessions.open() for _ in range(9)]
    assert opened[8] is None
    assert opened[0] is not None
    now[0] = 1_700.0
    assert sessions.holds(opened[0][1])
    now[0] = 1_900.0
    assert sessions.ids() == [opened[0][0]]


def test_a_password_never_shows() -> None:
    assert "swordfish" not in repr(ACCOUNT)


def test_a_bmc_that_does_not_answer_says_when_to_come_back(client: requests.Session) -> None:
    from dataclasses import replace

    from daemon.serving import Server

    silent = replace(reading_at(HOUR, fault("coolant-loss")), bmc_up=False)
    bmc = Bmc(lambda: silent, ACCOUNT, monotonic=lambda: 0.0)
    server = Server(bmc, host="127.0.0.1", port=0, threads=1)
    server.start()
    try:
        answer = client.get(f"http://127.0.0.1:{server.port}/redfish/v1", timeout=5)
    finally:
        server.close()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


# The server library drops the socket that it could not bind without closing it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_taken_port_frees_those_already_bound(served: ServedFleet) -> None:
    taken = int(served.addresses[0].dcgm_url.split(":")[2].split("/")[0])
    second = ServedFleet(served.fleet, ACCOUNT, monotonic=lambda: 0.0, first_port=taken)
    with pytest.raises(OSError, match="in use"):
        second.__enter__()
