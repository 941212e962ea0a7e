"""The real JobSet controller beside a control plane: its webhooks for JobSets, and its loop.

Its webhooks for pods are left out: they serve exclusive placement, and would
stand between every pod of the cluster and its creation.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Self

import yaml
from kubernetes import client, config

from simulator.controlplane.plane import assets
from simulator.processes import Processes, free_port
from tests.controlplane.definitions import define

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.controlplane.plane import ControlPlane

NAME = "jobset"
GROUP, VERSION, PLURAL = "jobset.x-k8s.io", "v1alpha2", "jobsets"
_HOOKS = {"mutate": ["CREATE"], "validate": ["CREATE", "UPDATE"]}


class JobSetController:
    """One controller with its files in `folder`; a context that ends it and its webhooks."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder
        self._port, self._health, self._metrics = (free_port() for _ in range(3))
        self._processes = Processes(folder / "logs")
        self._api = config.new_client_from_config(str(plane.kubeconfig))

    def __enter__(self) -> Self:
        define(self._api, NAME)
        self._lend_certificate()
        program = str(assets() / NAME)
        flags = (f"--kubeconfig={self._plane.kubeconfig}", f"--config={self._write_config()}")
        self._processes.start(NAME, (program, *flags))
        self._processes.wait_until_answers(NAME, f"http://127.0.0.1:{self._health}/readyz")
        self._install_webhooks()
        return self

    def __exit__(self, *_: object) -> None:
        hooks = client.AdmissionregistrationV1Api(self._api)
        hooks.delete_mutating_webhook_configuration(NAME)
        hooks.delete_validating_webhook_configuration(NAME)
        self._processes.close()
        self._api.close()

    def _write_config(self) -> Path:
        path = self._folder / "jobset.yaml"
        document = {
            "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "webhook": {
                "host": "127.0.0.1",
                "port": self._port,
                "certDir": str(self._folder / "certificates"),
            },
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._health}"},
            "metrics": {"bindAddress": f"127.0.0.1:{self._metrics}"},
        }
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return path

    def _lend_certificate(self) -> None:
        """Serve webhooks with the API server's own certificate: it names the loopback address."""
        folder = self._folder / "certificates"
        folder.mkdir(parents=True, exist_ok=True)
        for ours, theirs in (("tls.crt", ".crt"), ("tls.key", ".key")):
            source = self._plane.authority.with_suffix(theirs)
            (folder / ours).write_bytes(source.read_bytes())

    def _install_webhooks(self) -> None:
        hooks = client.AdmissionregistrationV1Api(self._api)
        hooks.create_mutating_webhook_configuration(self._hook("mutate"))
        hooks.create_validating_webhook_configuration(self._hook("validate"))

    def _hook(self, what: str) -> dict[str, Any]:
        path = f"/{what}-jobset-x-k8s-io-{VERSION}-jobset"
        authority = base64.b64encode(self._plane.authority.read_bytes()).decode()
        return {
            "metadata": {"name": NAME},
            "webhooks": [
                {
                    "name": f"{what}.{NAME}.test",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {
                        "url": f"https://127.0.0.1:{self._port}{path}",
                        "caBundle": authority,
                    },
                    "failurePolicy": "Fail",
                    "sideEffects": "None",
                    "rules": [
                        {
                            "apiGroups": [GROUP],
                            "apiVersions": [VERSION],
                            "operations": _HOOKS[what],
                            "resources": [PLURAL],
                        }
                    ],
                }
            ],
        }
