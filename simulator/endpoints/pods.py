"""Which pod holds a GPU, as far as pages say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.fleet import NodeReading


@dataclass(frozen=True, slots=True)
class Pod:
    """A workload's pod."""

    namespace: str
    name: str
    container: str = "main"


def default_pod(reading: NodeReading, gpu: int) -> Pod | None:
    """Return the node's one training pod, which holds all its GPUs."""
    del gpu
    return Pod("training", f"train-{reading.node}")
