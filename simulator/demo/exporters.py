"""One exporter process per node, as the DaemonSet would run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.demo import shipped
from simulator.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.demo.hardware import Hardware
    from simulator.demo.plan import Plan
    from simulator.processes import Processes
    from simulator.serving import Address

STEP_SECONDS = 60.0
"""The grid step of the shipped model."""


def ports(names: Iterable[str]) -> dict[str, int]:
    """Choose a port for each node's exporter."""
    return {name: free_port() for name in names}


def start(plan: Plan, hardware: Hardware, chosen: dict[str, int], processes: Processes) -> None:
    """Start one exporter per node on its own compressed copy of the example settings."""
    for address in hardware.addresses:
        settings = shipped.compressed(
            "deploy/config/exporter.example.yml",
            plan.scale,
            _changes(plan, hardware, address, chosen[address.node]),
        )
        path = shipped.write(plan.folder / f"exporter-{address.node}.yml", settings)
        processes.start_module(name_of(address.node), "exporter", "--config", str(path))
    for node, port in chosen.items():
        processes.wait_until_answers(name_of(node), f"http://127.0.0.1:{port}/healthz")


def name_of(node: str) -> str:
    """The process name of a node's exporter."""
    return f"exporter-{node}"


def _changes(plan: Plan, hardware: Hardware, address: Address, port: int) -> dict[str, object]:
    state = plan.folder / "state" / address.node
    state.mkdir(parents=True, exist_ok=True)
    return {
        "node": address.node,
        "listen": {"host": "127.0.0.1", "port": port},
        "dcgm": {"url": address.dcgm_url},
        "bmc": {
            "url": address.redfish_url,
            "username_file": str(hardware.user_file),
            "password_file": str(hardware.password_file),
        },
        # However long ago the shipped model was trained: its age is not compressed with the rest.
        "model": {"stale_after_seconds": None},
        "window": {"step_seconds": STEP_SECONDS / plan.scale, "directory": str(state)},
    }
