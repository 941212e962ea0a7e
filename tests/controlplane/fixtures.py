"""Fixtures of the cluster tier; `tests/conftest.py` plugs them in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulator.controlplane.plane import ControlPlane, assets, missing_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.controlplane.kubelet import FakeKubelets
    from tests.controlplane.jobset_controller import JobSetController
    from tests.controlplane.kubeflow_trainer import Trainer


@pytest.fixture(scope="session")
def control_plane_programs() -> None:
    """Skip, visibly, where the control plane is not built."""
    if missing := missing_programs():
        pytest.skip(f"{', '.join(missing)} not in {assets()}: make controlplane")


@pytest.fixture(scope="session")
def control_plane(
    control_plane_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """One real control plane with its controllers, shared: use names of your own in it.

    A test that wants other flags starts its own `ControlPlane`, one that kills the
    API server a `PerishableControlPlane`.
    """
    with ControlPlane(tmp_path_factory.mktemp("control-plane")) as plane:
        yield plane


@pytest.fixture(scope="session")
def jobset_controller(
    control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobSetController]:
    """The real JobSet controller on the shared control plane."""
    from tests.controlplane.jobset_controller import JobSetController

    with JobSetController(control_plane, tmp_path_factory.mktemp("jobset")) as running:
        yield running


@pytest.fixture(scope="session")
def trainer(
    control_plane: ControlPlane,
    jobset_controller: JobSetController,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Trainer]:
    """The real Kubeflow Trainer on the shared control plane, with the JobSet controller."""
    from tests.controlplane.kubeflow_trainer import Trainer

    with Trainer(control_plane, tmp_path_factory.mktemp("trainer")) as running:
        yield running


@pytest.fixture(scope="session")
def kubelets(control_plane: ControlPlane) -> Iterator[FakeKubelets]:
    """The kubelets of the shared control plane."""
    from simulator.controlplane.kubelet import FakeKubelets

    with FakeKubelets(control_plane.kubeconfig) as running:
        yield running
