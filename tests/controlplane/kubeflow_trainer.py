"""The real Kubeflow Trainer beside a control plane: TrainJobs become JobSets, and stay so.

Its webhooks only refuse what is misspelt, and are left out.  It makes their
certificate all the same, keeps it in a Secret, and waits until that is mounted:
this is done here, where the program looks, which is not to be chosen.
"""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kubernetes import client, config

from simulator.controlplane.plane import assets
from simulator.processes import Processes, free_port
from tests.controlplane.definitions import define

if TYPE_CHECKING:
    from simulator.controlplane.plane import ControlPlane

PROGRAM = "trainer-controller-manager"
DEFINITIONS = "trainer"
GROUP, VERSION = "trainer.kubeflow.org", "v1alpha1"
MOUNT = Path("/tmp/k8s-webhook-server/serving-certs")
_NAMESPACE = "kubeflow-system"
_SECRET = "kubeflow-trainer-webhook-cert"
_HOOKS = "validator.trainer.kubeflow.org"
_CERTIFIED_SECONDS = 30.0


class Trainer:
    """One controller with its logs in `folder`; a context that ends it.

    What it makes are JobSets: their controller must run too.
    """

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._health, self._hooks = free_port(), free_port()
        self._processes = Processes(folder / "logs")
        self._api = config.new_client_from_config(str(plane.kubeconfig))
        self._core = client.CoreV1Api(self._api)

    def __enter__(self) -> Self:
        define(self._api, DEFINITIONS)
        self._core.create_namespace({"metadata": {"name": _NAMESPACE}})
        self._core.create_namespaced_secret(_NAMESPACE, {"metadata": {"name": _SECRET}})
        registered = client.AdmissionregistrationV1Api(self._api)
        registered.create_validating_webhook_configuration({"metadata": {"name": _HOOKS}})
        flags = (
            f"--kubeconfig={self._plane.kubeconfig}",
            f"--health-probe-bind-address=127.0.0.1:{self._health}",
            f"--webhook-server-port={self._hooks}",
        )
        self._processes.start(PROGRAM, (str(assets() / PROGRAM), *flags))
        self._mount_certificate()
        self._processes.wait_until_answers(PROGRAM, f"http://127.0.0.1:{self._health}/readyz", 60.0)
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.close()
        self._api.close()

    def _mount_certificate(self) -> None:
        """Put the Secret's files where they would be mounted; raises `TimeoutError`."""
        end = time.monotonic() + _CERTIFIED_SECONDS
        while not (data := self._core.read_namespaced_secret(_SECRET, _NAMESPACE).data):
            self._processes.check()
            if time.monotonic() > end:
                raise TimeoutError(f"{PROGRAM}: no certificate in {_CERTIFIED_SECONDS:.0f} s")
            time.sleep(0.1)
        MOUNT.mkdir(parents=True, exist_ok=True)
        for name, text in data.items():
            written = MOUNT / f".{name}.{os.getpid()}"
            written.write_bytes(base64.b64decode(text))
            written.replace(MOUNT / name)
