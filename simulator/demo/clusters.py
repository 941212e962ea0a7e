"""The two clusters that a trial can run on: the embedded one, or a real control plane."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kubernetes import client, config

from simulator.cluster import workload
from simulator.cluster.embedded import EmbeddedCluster
from simulator.cluster.kubelet import Pace
from simulator.cluster.nodes import RACK as RACK_LABEL
from simulator.controlplane.kubelet import FakeKubelets
from simulator.controlplane.plane import ControlPlane, missing_programs
from simulator.demo.plan import JOB, NAMESPACE, OWN_NAMESPACE, RACK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator.demo.plan import Plan

POOL_LABELS = {"nvidia.com/gpu.present": "true"}
GPUS = 8
GRACE_SECONDS = 30
RETRIES_OF_THE_JOB = 1_000


class NotBuilt(Exception):
    """The real control plane's programs are not there, with the command that builds them."""


@contextmanager
def embedded(plan: Plan) -> Iterator[Path]:
    """Run the embedded cluster with the trial's nodes and job; yields a kubeconfig."""
    kubeconfig = plan.folder / "kubeconfig"
    with EmbeddedCluster(pace=Pace(scale=plan.scale)) as cluster:
        cluster.write_kubeconfig(kubeconfig)
        for namespace in (NAMESPACE, OWN_NAMESPACE):
            cluster.add_namespace(namespace)
        for name in plan.names:
            cluster.add_node(name, rack=RACK, gpus=GPUS, labels=POOL_LABELS)
        cluster.add_gang_job(
            JOB, nodes=plan.busy, gpus_per_node=GPUS, namespace=NAMESPACE,
            grace_seconds=GRACE_SECONDS,
        )  # fmt: skip
        yield kubeconfig


@contextmanager
def real(plan: Plan) -> Iterator[Path]:
    """Run a real control plane with imitated kubelets; raises `NotBuilt` without its programs."""
    if missing := missing_programs():
        raise NotBuilt(f"{', '.join(missing)} not built; run: make controlplane")
    with ControlPlane(plan.folder / "controlplane") as plane:
        stop_seconds = GRACE_SECONDS / plan.scale
        with FakeKubelets(plane.kubeconfig, stop_seconds=stop_seconds) as kubelets:
            _populate(plan, kubelets, plane.kubeconfig)
            yield plane.kubeconfig


def _populate(plan: Plan, kubelets: FakeKubelets, kubeconfig: Path) -> None:
    for name in plan.names:
        labels = {**POOL_LABELS, RACK_LABEL: RACK, "nvidia.com/gpu.count": str(GPUS)}
        kubelets.add_node(name, labels=labels, gpus=GPUS)
    api = config.new_client_from_config(str(kubeconfig))
    for namespace in (NAMESPACE, OWN_NAMESPACE):
        client.CoreV1Api(api).create_namespace({"metadata": {"name": namespace}})
    job = workload.gang_job(
        JOB, NAMESPACE, nodes=plan.busy, gpus_per_node=GPUS, grace_seconds=GRACE_SECONDS,
        annotations={},
    )  # fmt: skip
    job["spec"]["backoffLimit"] = RETRIES_OF_THE_JOB
    client.BatchV1Api(api).create_namespaced_job(NAMESPACE, job)
    api.close()
