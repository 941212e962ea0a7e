"""What is true at one moment: the pool's nodes, their marks, the pods to move, the ledger.

Everything is immutable and read from the cluster; nothing here remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from remediation.policy.facts.device import Devices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.bounds.limits import Policy
    from remediation.policy.facts.demand import Term
    from remediation.policy.facts.evidence import Evidence
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.refusal import Refusal


class Part(StrEnum):
    """What one part of a preparation answered."""

    DONE = "done"
    UNSUPPORTED = "unsupported"
    HEARD = "heard"
    WORKING = "working"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A wave that was tried and refused at `at` (Unix seconds), not to be tried before `again_at`.

    It is a memory of this process: another one just tries once more.
    """

    at: float
    again_at: float
    refusal: Refusal

    def holds(self, now: float) -> bool:
        """Return whether it is too early to try again; a clock that jumped back is no reason."""
        return self.at <= now < self.again_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One moment, whole.  `now` is Unix seconds.

    `nodes` is the GPU pool; a node that is not in it does not exist for us.
    `pods` has a key for every node whose pods were read, `pending` the pods on
    GPUs that wait for a node.  `epoch` is the leader's; 0 for a replica that
    only watches.  `trials` holds what the server last said to each wave, by job;
    `answers` what parts of preparations answered, by preparation and part;
    `volumes` where the volume of a claim (namespace, name) can be, None anywhere;
    `devices` what is known of GPUs as devices.
    """

    now: float
    epoch: int
    nodes: Mapping[str, Node]
    pods: Mapping[str, tuple[Pod, ...]]
    pending: tuple[Pod, ...] = ()
    ledger: Ledger
    evidence: Evidence
    policy: Policy
    trials: Mapping[str, Trial] = field(default_factory=dict)
    answers: Mapping[str, Part] = field(default_factory=dict)
    volumes: Mapping[tuple[str, str], tuple[Term, ...] | None] = field(default_factory=dict)
    devices: Devices = field(default_factory=Devices)
