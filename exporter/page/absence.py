"""How GPUs went missing, and whether anything but their absence speaks against them.

Pure.  A GPU is given to a virtual machine, or falls off the bus: the page is
the same, seven instead of eight.  What differs is whether it had work, whether
an error came before, whether the device list was read anew, and whether the
BMC still sees it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from exporter.readings import LeftAfter, Place

if TYPE_CHECKING:
    from exporter.readings import Departure
    from exporter.window.snapshot import NodeSnapshot

IN_BMC = Place("node_gpus_in_bmc")
WORDS = {
    LeftAfter.RUNNING: "between two pages",
    LeftAfter.RELOAD: "after a device list reload",
    LeftAfter.GAP: "while the source was silent",
}


class Witness(StrEnum):
    """Whether the BMC sees as many GPUs as there should be."""

    SEEN = "seen"
    NOT_SEEN = "not_seen"
    UNKNOWN = "unknown"


def witness(snapshot: NodeSnapshot) -> Witness:
    """Ask the BMC's count of enabled GPUs."""
    counted = snapshot.values.get(IN_BMC)
    if counted is None or snapshot.expected_count is None:
        return Witness.UNKNOWN
    return Witness.SEEN if counted >= snapshot.expected_count else Witness.NOT_SEEN


def is_explained(left: Departure, bmc: Witness) -> bool:
    """Tell whether a departure looks planned: at rest, accused by nothing, and accounted for."""
    if left.busy or left.hardware_xid or bmc is Witness.NOT_SEEN:
        return False
    return bmc is Witness.SEEN or left.after is LeftAfter.RELOAD


def unexplained(snapshot: NodeSnapshot) -> int | None:
    """Count the missing GPUs whose absence is no plan; None while they cannot be counted."""
    if snapshot.seen is None or snapshot.expected_count is None:
        return None
    bmc = witness(snapshot)
    explained = sum(is_explained(left, bmc) for left in snapshot.departures)
    return max(0, snapshot.expected_count - len(snapshot.seen) - explained)


def sentence(left: Departure, bmc: Witness) -> str:
    """Say it for a person."""
    parts = [f"left {WORDS[left.after]}", "was at work" if left.busy else "was idle"]
    if left.hardware_xid:
        parts.append("with a hardware XID")
    sees = {
        Witness.SEEN: "the BMC sees all GPUs",
        Witness.NOT_SEEN: "the BMC misses it too",
        Witness.UNKNOWN: "the BMC does not count GPUs",
    }
    return ", ".join((*parts, sees[bmc]))
