"""The manifests on a real API server: taken without a warning, and giving the rights they say."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulator.controlplane.plane import ControlPlane, assets

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ACCOUNT = "system:serviceaccount:forewarn:forewarn-remediation"
pytestmark = pytest.mark.cluster

Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def plane(
    control_plane_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """One of our own: a DaemonSet would put pods on everybody's nodes."""
    with ControlPlane(tmp_path_factory.mktemp("deploy")) as running:
        yield running


@pytest.fixture(scope="module")
def kubectl(plane: ControlPlane) -> Kubectl:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(assets() / "kubectl"), f"--kubeconfig={plane.kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return run


@pytest.fixture(scope="module")
def applied(kubectl: Kubectl) -> Kubectl:
    """The base, applied once; any warning of the server (such as of pod security) is a failure."""
    result = kubectl("apply", "--server-side", "-k", str(DEPLOY))
    assert result.returncode == 0, result.stderr
    assert not result.stderr, result.stderr
    return kubectl


@pytest.fixture(scope="module")
def with_facility(applied: Kubectl) -> Kubectl:
    """The facility's exporter beside the base, as clean."""
    result = applied("apply", "--server-side", "-k", str(DEPLOY / "facility"))
    assert result.returncode == 0, result.stderr
    assert not result.stderr, result.stderr
    return applied


@pytest.mark.parametrize("folder", [DEPLOY, DEPLOY / "facility"], ids=lambda folder: folder.name)
def test_applying_again_changes_nothing(with_facility: Kubectl, folder: Path) -> None:
    result = with_facility("diff", "--server-side", "-k", str(folder))
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_settings_of_the_facility_arrive(with_facility: Kubectl) -> None:
    found = with_facility(
        "-n", "forewarn", "get", "configmap", "forewarn-facility", "-o", "jsonpath={.data}"
    )
    assert "targets: []" in found.stdout


def test_rules_and_dashboards_arrive(applied: Kubectl) -> None:
    rules = applied("-n", "forewarn", "get", "configmap", "forewarn-rules", "-o", "yaml").stdout
    assert "ForewarnNodeFailureLikely" in rules
    found = applied("-n", "forewarn", "get", "configmap", "-l", "grafana_dashboard=1", "-o", "name")
    assert found.stdout.split() == ["configmap/forewarn-dashboards"]


def test_the_jobs_that_train_are_accepted(applied: Kubectl) -> None:
    result = applied("apply", "--server-side", "-k", str(DEPLOY / "training"))
    assert result.returncode == 0, result.stderr
    assert not result.stderr, result.stderr


def test_the_service_beside_dcgm_exporter_is_accepted(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "gpu-operator")
    result = kubectl("apply", "--server-side", "-k", str(DEPLOY / "dcgm"))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("verb", "resource", "namespace", "allowed"),
    [
        ("list", "nodes", "default", True),
        ("patch", "nodes", "default", True),
        ("create", "pods/eviction", "anywhere", True),
        ("update", "configmaps/forewarn-ledger", "forewarn", True),
        ("patch", "leases.coordination.k8s.io/forewarn-remediation", "forewarn", True),
        ("create", "events", "default", True),
        ("delete", "pods", "anywhere", False),
        ("delete", "nodes", "default", False),
        ("patch", "nodes/status", "default", False),
        ("get", "secrets", "forewarn", False),
        ("update", "configmaps/forewarn-remediation", "forewarn", False),
        ("create", "pods", "forewarn", False),
    ],
)
def test_the_account_of_remediation_may(
    applied: Kubectl, verb: str, resource: str, namespace: str, allowed: bool
) -> None:
    kind, _, rest = resource.partition("/")
    named = [f"--subresource={rest}", kind] if kind in ("pods", "nodes") and rest else [resource]
    answer = applied("auth", "can-i", verb, *named, f"--as={ACCOUNT}", "-n", namespace)
    assert (answer.stdout.strip() == "yes") is allowed, answer.stderr


def test_pods_start_under_the_restricted_profile(
    plane: ControlPlane, with_facility: Kubectl
) -> None:
    from simulator.controlplane.kubelet import FakeKubelets

    with FakeKubelets(plane.kubeconfig) as kubelets:
        kubelets.add_node("gpu-1", labels={"nvidia.com/gpu.present": "true"})
        kubelets.add_node("plain-1")
        replicas = "{.status.readyReplicas}"
        assert ready(with_facility, "daemonset/forewarn-exporter", "{.status.numberReady}") == "1"
        assert ready(with_facility, "deployment/forewarn-remediation", replicas) == "2"
        assert ready(with_facility, "deployment/forewarn-facility", replicas) == "1"


def ready(kubectl: Kubectl, name: str, path: str) -> str:
    """Wait for the number of ready pods to be another than none, and to be steady for a second."""
    deadline, seen = time.monotonic() + 40, ""
    while time.monotonic() < deadline:
        before = seen
        seen = kubectl("-n", "forewarn", "get", name, "-o", f"jsonpath={path}").stdout
        if seen not in ("", "0") and seen == before:
            return seen
        time.sleep(1)
    return seen
