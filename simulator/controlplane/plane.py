"""A real Kubernetes control plane on loopback: etcd, API server, and the controllers when asked.

Ready in a few seconds. There is no kubelet; `simulator.controlplane.kubelet` plays
all of them.
"""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import requests

from simulator.controlplane import credentials
from simulator.controlplane.credentials import ADMIN_GROUP, User
from simulator.processes import Processes, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BUILD = Path(__file__).resolve().parents[2] / "tests" / "controlplane" / "build.sh"
API, CONTROLLERS, SCHEDULER, STORE = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "etcd",
)
READY_SECONDS = 60.0


def assets() -> Path:
    """The folder of the built programs, after the envtest convention."""
    found = subprocess.run([str(BUILD), "--where"], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip())


def missing_programs() -> list[str]:
    """Names of the programs and definitions that are not there yet."""
    listed = subprocess.run([str(BUILD), "--list"], check=True, capture_output=True, text=True)
    folder = assets()
    return [name for name in listed.stdout.split() if not (folder / name).exists()]


class ControlPlane:
    """One control plane with its data in `folder`; a context that ends every process.

    `users` may sign in beside the admin; each has a token, and only the rights
    that the test grants it. `controllers` adds the controller manager and the
    scheduler, which are started again whenever they end by themselves, as a
    kubelet would. `controller_flags` are appended to the controller manager's.
    """

    def __init__(
        self,
        folder: Path,
        *,
        users: Sequence[User] = (),
        controllers: bool = True,
        controller_flags: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.admin = User("admin", (ADMIN_GROUP,))
        self.url = f"https://127.0.0.1:{free_port()}"
        self.kubeconfig = folder / "admin.kubeconfig"
        self._users = (self.admin, *users)
        self._etcd, self._peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self._controllers = controllers
        self._controller_flags = tuple(controller_flags)
        self._programs = assets()
        self._processes = Processes(folder / "logs")
        self._stop = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def authority(self) -> Path:
        """The certificate that clients verify the API server with."""
        return self.folder / "certificates" / "apiserver.crt"

    def start(self) -> None:
        """Start everything and wait until it answers; raises `ProcessFailed` with the log's end."""
        credentials.write_tokens(self.folder / "tokens.csv", self._users)
        credentials.write_signing_key(self.folder / "signing.key")
        self.write_kubeconfig(self.kubeconfig, self.admin)
        self._start(STORE, *self._store_flags())
        self.start_api_server()
        if self._controllers:
            self._start_controllers()
            self._supervisor.start()

    def close(self) -> None:
        """End every process at once; there is no data worth a graceful end."""
        self._stop.set()
        if self._supervisor.is_alive():
            self._supervisor.join()
        for name in (SCHEDULER, CONTROLLERS, API, STORE):
            if self._processes.is_running(name):
                self._processes.kill(name)

    def write_kubeconfig(self, path: Path, user: User) -> None:
        """Write a kubeconfig file for one of the users."""
        credentials.write_kubeconfig(path, self.url, self.authority, user)

    def start_api_server(self) -> None:
        """Start the API server on its old address and wait until it is ready."""
        self._start(API, *self._api_flags())
        self._wait_until("ready", lambda: self._get("/readyz").ok)
        self._wait_until("with its namespaces", self._has_default_namespace)

    def _supervise(self) -> None:
        """Start again what has ended, once the API server can be reached."""
        while not self._stop.wait(0.5):
            for name in (CONTROLLERS, SCHEDULER):
                if not self._processes.is_running(name) and self._answers():
                    self._start(name, *self._component_flags(name))

    def _start_controllers(self) -> None:
        for name in (CONTROLLERS, SCHEDULER):
            self._start(name, *self._component_flags(name))

    def _start(self, name: str, *flags: str) -> None:
        self._processes.start(name, (str(self._programs / name), *flags))

    def _wait_until(self, what: str, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + READY_SECONDS
        while not _attempt(holds):
            if not self._processes.is_running(API):
                self._processes.check()
            if time.monotonic() > end:
                log = self._processes.log(API)
                raise TimeoutError(f"{API} not {what} within {READY_SECONDS:.0f} s, see {log}")
            time.sleep(0.05)

    def _has_default_namespace(self) -> bool:
        return self._get("/api/v1/namespaces/default").ok

    def _answers(self) -> bool:
        return _attempt(lambda: self._get("/readyz").ok)

    def _get(self, path: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.admin.token}"}
        url = self.url + path
        return requests.get(url, headers=headers, verify=str(self.authority), timeout=5)

    def _store_flags(self) -> tuple[str, ...]:
        return (
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self._etcd}",
            f"--advertise-client-urls={self._etcd}",
            f"--listen-peer-urls={self._peer}",
            f"--initial-advertise-peer-urls={self._peer}",
            f"--initial-cluster=default={self._peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _api_flags(self) -> tuple[str, ...]:
        key = self.folder / "signing.key"
        return (
            f"--etcd-servers={self._etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.url.rsplit(':', 1)[1]}",
            f"--cert-dir={self.folder / 'certificates'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--endpoint-reconciler-type=none",
            "--disable-admission-plugins=ServiceAccount",
            "--profiling=false",
        )

    def _component_flags(self, name: str) -> tuple[str, ...]:
        shared = (f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", "--profiling=false")
        if name == SCHEDULER:
            return (*shared, f"--secure-port={free_port()}", f"--cert-dir={self.folder / name}")
        key = self.folder / "signing.key"
        own = (f"--service-account-private-key-file={key}", "--secure-port=0")
        return (*shared, *own, *self._controller_flags)


def _attempt(holds: Callable[[], Any]) -> bool:
    try:
        return bool(holds())
    except (requests.ConnectionError, requests.Timeout, OSError):
        return False
