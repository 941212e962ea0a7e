"""A control plane that a test may break."""

from __future__ import annotations

from simulator.controlplane.plane import API, ControlPlane


class PerishableControlPlane(ControlPlane):
    """A control plane whose API server can be lost and started again."""

    def kill_api_server(self) -> None:
        """End the API server as a power cut would; etcd keeps what was acknowledged."""
        self._processes.kill(API)
