"""A fleet on the network: one dcgm-exporter and one BMC per node, each on a port of its own."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from daemon.serving import Server
from simulator.endpoints.exporter import DcgmExporter
from simulator.endpoints.pods import Pod, default_pod
from simulator.endpoints.redfish.bmc import Bmc

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from simulator.endpoints.redfish.bmc import Credentials
    from simulator.fleet import Fleet, NodeReading

THREADS = 3
"""Per server; a node has one reader of each, with some room for people."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where one node answers."""

    node: str
    rack: str
    dcgm_url: str
    redfish_url: str

    def document(self) -> dict[str, str]:
        """Return it as plain strings."""
        return asdict(self)


class ServedFleet:
    """Servers for all nodes of a fleet; entering it binds the ports and starts the clock.

    `first_port` 0 lets the system choose; otherwise node i takes
    `first_port` + 2 i for its page and the next one for its BMC.  Raises
    `OSError` where a port is taken.
    """

    def __init__(
        self,
        fleet: Fleet,
        credentials: Credentials,
        *,
        monotonic: Callable[[], float],
        host: str = "127.0.0.1",
        first_port: int = 0,
        pod_of: Callable[[NodeReading, int], Pod | None] = default_pod,
    ) -> None:
        self.fleet = fleet
        self._host = host
        self._servers: list[Server] = []
        self.addresses: tuple[Address, ...] = ()
        self._apps = [
            (
                DcgmExporter(
                    partial(fleet.reading, machine.node),
                    machine.seed,
                    pod_of,
                    wait=lambda seconds: time.sleep(seconds / fleet.speed),
                ),
                Bmc(partial(fleet.reading, machine.node), credentials, monotonic=monotonic),
            )
            for machine in fleet.plan
        ]
        self._first_port = first_port

    def __enter__(self) -> Self:
        try:
            self.addresses = tuple(self._open(lane) for lane in range(len(self._apps)))
        except OSError:
            self.close()
            raise
        self.fleet.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free all ports."""
        while self._servers:
            self._servers.pop().close()

    def _open(self, lane: int) -> Address:
        urls = []
        for offset, app in enumerate(self._apps[lane]):
            port = self._first_port + 2 * lane + offset if self._first_port else 0
            server = Server(app, host=self._host, port=port, threads=THREADS)
            server.start()
            self._servers.append(server)
            urls.append(f"http://{self._host}:{server.port}")
        machine = self.fleet.plan[lane]
        return Address(machine.node, machine.rack, f"{urls[0]}/metrics", urls[1])
