from __future__ import annotations

import pytest
from kubernetes import client, config

from simulator.controlplane.credentials import User
from simulator.controlplane.kubelet import FakeKubelets
from tests.contracts.cluster.asking import eventually, refusal
from tests.controlplane.perishable import PerishableControlPlane

pytestmark = pytest.mark.cluster


def service_account(namespace: str, name: str) -> User:
    """A user whom RBAC cannot tell from the service account of that name."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


REMEDIATION = service_account("forewarn", "forewarn-remediation")


@pytest.fixture
def plane(control_plane_programs, tmp_path):
    with PerishableControlPlane(tmp_path, users=[REMEDIATION]) as running:
        yield running


@pytest.fixture
def api(plane):
    connected = config.new_client_from_config(str(plane.kubeconfig))
    yield connected
    connected.close()


@pytest.fixture
def kubelets(plane):
    with FakeKubelets(plane.kubeconfig) as running:
        yield running


def _job(name, pods):
    limits = {"nvidia.com/gpu": "8"}
    container = {"name": "work", "image": "test", "resources": {"limits": limits}}
    spec = {"containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 0}
    return {
        "metadata": {"name": name},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            "template": {"spec": spec},
        },
    }


def test_an_api_server_that_was_killed_comes_back_with_everything_and_work_goes_on(
    plane, kubelets, api
):
    core = client.CoreV1Api(api)
    for number in range(3):
        kubelets.add_node(f"n{number}")

    def running():
        pods = core.list_namespaced_pod("default", label_selector="job-name=train").items
        return [pod for pod in pods if pod.status.phase == "Running"]

    client.BatchV1Api(api).create_namespaced_job("default", _job("train", 2))
    eventually(lambda: len(running()) == 2)
    core.patch_node("n0", {"metadata": {"annotations": {"forewarn.dev/episode": "{}"}}})

    plane.kill_api_server()
    plane.start_api_server()

    assert core.read_node("n0").metadata.annotations["forewarn.dev/episode"] == "{}"
    lost = running()[0].spec.node_name
    core.patch_node(lost, {"spec": {"unschedulable": True}})
    for pod in running():
        if pod.spec.node_name == lost:
            body = {"metadata": {"name": pod.metadata.name}}
            core.create_namespaced_pod_eviction(pod.metadata.name, "default", body)
    eventually(lambda: lost not in {p.spec.node_name for p in running()}, 60)
    eventually(lambda: len(running()) == 2, 60)


def test_a_user_has_the_rights_that_were_granted_and_no_others(plane, api, tmp_path):
    rbac = client.RbacAuthorizationV1Api(api)
    rule = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}
    rbac.create_cluster_role({"metadata": {"name": "reader"}, "rules": [rule]})
    subject = {
        "kind": "ServiceAccount",
        "name": "forewarn-remediation",
        "namespace": "forewarn",
    }
    reference = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "reader",
    }
    rbac.create_cluster_role_binding(
        {"metadata": {"name": "reader"}, "roleRef": reference, "subjects": [subject]}
    )
    plane.write_kubeconfig(tmp_path / "remediation", REMEDIATION)
    with config.new_client_from_config(str(tmp_path / "remediation")) as own:
        core = client.CoreV1Api(own)
        eventually(lambda: core.list_node().items == [])
        answer = refusal(core.list_pod_for_all_namespaces)
    assert (answer.code, answer.reason) == (403, "Forbidden")
