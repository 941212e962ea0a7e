"""The simulated machines of the trial: they carry whatever work the cluster places on them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Self

from simulator.endpoints.pods import Pod
from simulator.endpoints.redfish.bmc import Credentials
from simulator.fleet import Fleet
from simulator.serving import ServedFleet

if TYPE_CHECKING:
    from pathlib import Path

    from daemon.clocks import Clock
    from simulator.demo.cluster import ClusterLook
    from simulator.fleet import NodeReading
    from simulator.machine import Machine
    from simulator.serving import Address

BMC_USER = "forewarn"
PREFILL_SECONDS = 14_400.0
GPUS = 8


class Hardware:
    """A served fleet whose GPUs are busy where the cluster has pods, and idle elsewhere."""

    def __init__(
        self, plan: list[Machine], *, clock: Clock, speed: float, namespace: str, folder: Path
    ) -> None:
        self.fleet = Fleet(
            plan, monotonic=clock.monotonic, speed=speed, prefill_seconds=PREFILL_SECONDS, gpus=GPUS
        )
        self.password_file = _secret(folder / "bmc-password")
        self.user_file = folder / "bmc-user"
        self.user_file.write_text(BMC_USER, encoding="utf-8")
        credentials = Credentials(BMC_USER, self.password_file.read_text(encoding="utf-8"))
        self._namespace = namespace
        self._pods: dict[str, str] = {}
        self._served = ServedFleet(
            self.fleet, credentials, monotonic=clock.monotonic, pod_of=self._pod_of
        )

    def __enter__(self) -> Self:
        self._served.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._served.close()

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where each node's dcgm-exporter and BMC answer."""
        return self._served.addresses

    def elapsed_seconds(self) -> float:
        """Simulated seconds since the start of the trial."""
        return self.fleet.now_seconds() - PREFILL_SECONDS

    def failed(self, node: str) -> bool:
        """Tell whether the hardware of `node` has failed."""
        return self.fleet.failed(node)

    def carry(self, look: ClusterLook) -> None:
        """Load the nodes that have running pods, and let the others idle."""
        self._pods = {work.node: work.pod for work in look.work if work.running}
        for machine in self.fleet.plan:
            if machine.node in self._pods:
                self.fleet.occupy(machine.node)
            else:
                self.fleet.vacate(machine.node)

    def _pod_of(self, reading: NodeReading, _gpu: int) -> Pod | None:
        pod = self._pods.get(reading.node)
        return Pod(self._namespace, pod) if pod else None


def _secret(path: Path) -> Path:
    path.touch(mode=0o600)
    path.write_text(secrets.token_urlsafe(18), encoding="utf-8")
    return path
