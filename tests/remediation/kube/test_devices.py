"""What a server says of its GPUs as devices, in newer and older versions, and how it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client
from werkzeug.wrappers import Request, Response

from daemon.serving import Server
from remediation.kube.connection import Connection
from remediation.kube.devices import Gpus, rule_name
from remediation.kube.discovery import Discovery
from remediation.policy.facts.demand import Demand
from remediation.policy.facts.device import Device
from remediation.policy.facts.mark import encode_mark
from remediation.policy.steps import Decision, LiftGpu, NodeWrite, TaintGpu
from remediation.ports import CallFailed, Conflict, FailureReason
from tests.remediation.builders import a_mark, a_node, a_pod
from tests.remediation.memory import HandClock
from tests.remediation.policy.ladder.test_one_gpu import RULE, SICK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GROUP = "/apis/resource.k8s.io"
KINDS = ("devicetaintrules", "resourceslices", "resourceclaims")


class Api:
    """Answers by method and last part of the path; what is not told is 404."""

    def __init__(self, versions: dict[str, tuple[str, ...]]) -> None:
        self.answers: dict[tuple[str, str], tuple[int, Any]] = {}
        self.asked: list[str] = []
        self.sent: list[Any] = []
        self.time = HandClock()
        group = {"name": "resource.k8s.io", "versions": [{"version": v} for v in versions]}
        self.answers["GET", "apis"] = 200, {"groups": [group]}
        for version, plurals in versions.items():
            told = [{"name": one, "kind": one, "namespaced": False} for one in plurals]
            self.answers["GET", version] = 200, {"resources": told}
        self.server = Server(self, host="127.0.0.1", port=0)
        self.server.start()
        settings = client.Configuration(host=f"http://127.0.0.1:{self.server.port}")
        connection = Connection(client.ApiClient(settings), "forewarn", 2.0)
        clock = self.time.clock
        self.gpus = Gpus(connection, Discovery(connection, clock), clock)

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        self.asked.append(request.path)
        key = request.method, request.path.rstrip("/").rsplit("/", 1)[1]
        status, document = self.answers.get(key, (404, {"code": 404}))
        if request.method in {"POST", "DELETE"}:
            self.sent.append(json.loads(request.get_data()))
        response = Response(json.dumps(document), status=status, mimetype="application/json")
        found: Iterable[bytes] = response(environ, start_response)
        return found

    def lists(self, plural: str, *items: Any) -> None:
        self.answers["GET", plural] = 200, {"metadata": {}, "items": list(items)}

    def read(self, *pods: Any, in_use: bool = True) -> Any:
        return self.gpus.read(frozenset({"n1"}), pods, in_use=in_use)


@pytest.fixture
def api() -> Iterator[Api]:
    found = Api({"v1": KINDS})
    found.lists("devicetaintrules")
    found.lists("resourceslices")
    yield found
    found.server.close()


def a_slice(*devices: Any, generation: int = 1) -> Any:
    pool = {"name": "n1", "generation": generation}
    return {"spec": {"driver": "gpu.nvidia.com", "pool": pool, "devices": list(devices)}}


def a_rule(name: str, node: str = "n1", uid: str = "uid-n1", device: str = "gpu-3") -> Any:
    chosen = {"driver": "gpu.nvidia.com", "pool": "n1", "device": device}
    owners = [{"kind": "Node", "name": node, "uid": uid}]
    metadata = {"name": name, "uid": "r1", "ownerReferences": owners}
    return {"metadata": metadata, "spec": {"deviceSelector": chosen}}


def a_device(name: str, **attributes: str) -> Any:
    return {"name": name, "attributes": {k: {"string": v} for k, v in attributes.items()}}


def a_step() -> TaintGpu:
    write = NodeWrite(
        decision=Decision.TAINT_GPU,
        node=a_node("n1"),
        mark=a_mark("n1", gpu=SICK, cordoned=False),
        effect=None,
        unschedulable=None,
        sentence="tainted",
    )
    return TaintGpu(write=write, device=SICK)


def test_devices_are_read_with_their_uuid_from_the_newest_generation_and_older_versions(
    api: Api,
) -> None:
    older = {"name": "gpu-3", "basic": {"attributes": {"uuid": {"string": "GPU-3"}}}}
    domain = {"name": "gpu-4", "attributes": {"gpu.nvidia.com/uuid": {"string": "GPU-4"}}}
    api.lists(
        "resourceslices",
        a_slice(a_device("gone", uuid="GPU-0"), generation=1),
        a_slice(older, domain, {"name": "no-uuid"}, generation=2),
        a_slice(a_device("mig-1", uuid="MIG-1", parentUUID="GPU-4"), generation=2),
    )
    found = api.read()
    assert [one.uuid for one in found.published["n1"]] == ["GPU-3", "GPU-4", "MIG-1"]
    assert found.published["n1"][0] == SICK
    assert found.parts == {"GPU-4"}
    api.read()
    assert api.asked.count(f"{GROUP}/v1/resourceslices") == 1


def test_the_version_is_the_first_that_has_the_kind() -> None:
    api = Api({"v1": ("resourceslices", "resourceclaims"), "v1beta2": KINDS})
    api.lists("resourceslices")
    api.lists("devicetaintrules")
    assert api.read().offered is True
    assert f"{GROUP}/v1beta2/devicetaintrules" in api.asked
    assert f"{GROUP}/v1/resourceslices" in api.asked
    api.server.close()


def test_a_pod_holds_what_its_claims_were_given_and_not_what_it_only_watches(api: Api) -> None:
    given = {"driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-3"}
    watched = {**given, "device": "gpu-4", "adminAccess": True}
    results = {"allocation": {"devices": {"results": [given, watched]}}}
    api.answers["GET", "c1"] = 200, {"status": results}
    api.answers["GET", "c2"] = 200, {"status": {}}
    dra = {"demand": Demand(devices=True), "node": "n1"}
    pods = [
        a_pod("given", device_claims=("c1",), **dra),
        a_pod("unfilled", device_claims=("c2",), **dra),
        a_pod("unmade", device_claims=(), **dra),
        a_pod("plain", node="n1"),
    ]
    assert api.read(*pods).held == {"uid-given": frozenset({SICK.place})}


def test_a_rule_is_created_for_one_device_and_is_owned_by_its_node(api: Api) -> None:
    api.answers["POST", "devicetaintrules"] = 201, {}
    step = a_step()
    api.gpus.taint(step)
    (sent,) = api.sent
    assert sent["spec"]["deviceSelector"] == {
        "driver": "gpu.nvidia.com",
        "pool": "n1",
        "device": "gpu-3",
    }
    assert sent["spec"]["taint"]["effect"] == "NoSchedule"
    assert sent["metadata"]["ownerReferences"][0]["uid"] == "uid-n1"
    assert step.write.mark is not None
    assert sent["metadata"]["annotations"]["forewarn.dev/episode"] == encode_mark(step.write.mark)


def test_a_rule_that_is_there_is_ours_or_a_left_over_or_somebody_elses(api: Api) -> None:
    api.answers["POST", "devicetaintrules"] = 409, {"code": 409}
    name = rule_name(a_node("n1"), SICK)
    api.lists("devicetaintrules", a_rule(name))
    api.gpus.taint(a_step())
    api.lists("devicetaintrules", a_rule(name, uid="an-older-n1"))
    with pytest.raises(Conflict):
        api.gpus.taint(a_step())
    api.lists("devicetaintrules")
    with pytest.raises(CallFailed, match="not ours") as caught:
        api.gpus.taint(a_step())
    assert caught.value.reason is FailureReason.UNEXPECTED_ANSWER


def test_a_device_without_a_place_of_its_own_is_never_a_rule(api: Api) -> None:
    nowhere = Device(driver="gpu.nvidia.com", pool="", name="gpu-3", uuid="GPU-3")
    step = TaintGpu(write=a_step().write, device=nowhere)
    with pytest.raises(CallFailed):
        api.gpus.taint(step)
    assert api.sent == []


def test_a_taint_that_a_mark_speaks_for_by_now_is_not_lifted(api: Api) -> None:
    step = LiftGpu(node=a_node("n1"), rule=RULE, sentence="lifted")
    api.answers["DELETE", RULE.name] = 200, {}
    text = encode_mark(a_mark("n1", gpu=SICK, cordoned=False))
    metadata: dict[str, Any] = {"name": "n1", "uid": "uid-n1", "resourceVersion": "1"}
    marked = {**metadata, "annotations": {"forewarn.dev/episode": text}}
    api.answers["GET", "n1"] = 200, {"metadata": marked}
    with pytest.raises(Conflict):
        api.gpus.lift(step)
    assert api.sent == []
    api.answers["GET", "n1"] = 200, {"metadata": metadata}
    api.gpus.lift(step)
    assert api.sent == [{"preconditions": {"uid": "r1"}}]
    del api.answers["DELETE", RULE.name]
    api.gpus.lift(step)


def test_who_does_not_use_it_is_asked_once_and_may_lack_the_rights(api: Api) -> None:
    api.answers["GET", "devicetaintrules"] = 403, {"code": 403}
    with pytest.raises(CallFailed):
        api.read(in_use=True)
    assert api.read(in_use=False).offered is None
    count = len(api.asked)
    assert api.read(in_use=False).offered is None
    assert len(api.asked) == count


def test_while_something_of_ours_is_left_it_is_looked_at_also_without_use(api: Api) -> None:
    api.lists("devicetaintrules", a_rule("forewarn-n1-gpu-3"))
    assert api.read(in_use=False).rules == (RULE,)
    api.lists("devicetaintrules", {"metadata": {"name": "by-hand"}, "spec": {}})
    assert api.read(in_use=False).rules == ()
    assert api.read(in_use=False).rules is None


def test_a_server_without_the_group_offers_none() -> None:
    api = Api({})
    assert api.read().offered is False
    api.server.close()
