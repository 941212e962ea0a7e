"""One node as dcgm-exporter 4.x writes it, with a counter list that hides nothing.

Text and labels follow recorded bodies: integers as digits, other numbers with
six decimals; what cannot be read has no sample; a lost GPU leaves the body but
for its latched XID; a family without samples is absent.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import numpy as np

from simulator import noise
from simulator.endpoints.counter_list import FAMILIES, XID_FAMILY
from simulator.endpoints.pods import Pod, default_pod
from simulator.physics import board

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.endpoints.counter_list import Family
    from simulator.fleet import NodeReading

DRIVER = "580.105.08"
XID_TEXT = {
    0: "No Error",
    13: "Graphics Engine Exception",
    31: "GPU memory page fault",
    43: "GPU stopped processing",
    45: "Preemptive cleanup, due to previous errors",
    48: "Double Bit ECC Error",
    63: "ECC page retirement or row remapping recording event",
    64: "ECC page retirement or row remapper recording failure",
    74: "NVLink Error",
    79: "GPU has fallen off the bus",
    92: "High single-bit ECC error rate",
    94: "Contained memory error",
    119: "GSP RPC timeout",
}


def gpu_uuid(seed: int, node: str, gpu: int) -> str:
    """Return the identity of one board: the same for the same seed, node and slot."""
    high = int(noise.key(seed, node, "uuid", str(gpu)))
    low = int(noise.key(seed, node, "uuid low", str(gpu)))
    return f"GPU-{uuid.UUID(int=(high << 64) | low, version=4)}"


def page(
    reading: NodeReading, seed: int, pod_of: Callable[[NodeReading, int], Pod | None] = default_pod
) -> str:
    """Return the body; empty while the exporter starts or reloads."""
    if not reading.page_up:
        return ""
    gpus = reading.values.shape[0]
    boards = [_board_labels(reading.node, seed, gpu) for gpu in range(gpus)]
    pods = [pod_of(reading, gpu) if reading.occupied[gpu] else None for gpu in range(gpus)]
    lines: list[str] = []
    for family in FAMILIES:
        samples = _samples(family, reading, boards, pods)
        if samples:
            lines += [f"# HELP {family.name} {family.text}", f"# TYPE {family.name} {family.kind}"]
            lines += samples
    return "".join(line + "\n" for line in lines)


def _samples(
    family: Family, reading: NodeReading, boards: list[str], pods: list[Pod | None]
) -> list[str]:
    lines = []
    for gpu, value in enumerate(family.values(reading)):
        if np.isnan(value):
            continue
        labels = boards[gpu] + _attributes(pods[gpu], value if family.name == XID_FAMILY else None)
        text = str(int(np.round(value))) if family.whole else f"{value:.6f}"
        lines.append(f"{family.name}{{{labels}}} {text}")
    return lines


def _board_labels(node: str, seed: int, gpu: int) -> str:
    bus = 0x19 + 0x11 * gpu
    return (
        f'gpu="{gpu}",UUID="{gpu_uuid(seed, node, gpu)}",pci_bus_id="00000000:{bus:02X}:00.0",'
        f'device="nvidia{gpu}",modelName="{board.MODEL}",Hostname="{node}",'
        f'DCGM_FI_DRIVER_VERSION="{DRIVER}"'
    )


def _attributes(pod: Pod | None, xid: float | None) -> str:
    """Return the labels that follow the board's, in the exporter's alphabetical order."""
    pairs: dict[str, str] = {}
    if pod is not None:
        pairs = {"container": pod.container, "namespace": pod.namespace, "pod": pod.name}
        pairs["pod_uid"] = ""
    if xid is not None:
        pairs["err_code"] = str(int(xid))
        pairs["err_msg"] = XID_TEXT.get(int(xid), "Unknown Error")
    return "".join(f',{name}="{pairs[name]}"' for name in sorted(pairs))
