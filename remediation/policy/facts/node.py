"""A node of the pool: what is on it, whose cordon it is, and whether new work lands there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from remediation.policy.facts.taint import Effect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.taint import Taint

RISK_TAINT = "forewarn.dev/at-risk"
HOLD_ANNOTATION = "forewarn.dev/hold"
RISK_LABEL = "forewarn.dev/risk"
RELEASE_ANNOTATION = "forewarn.dev/release"
FIELD_MANAGER = "forewarn-remediation"

# Others that drain a node say so with these; two owners of one drain is one too many.
OTHER_DRAINERS = frozenset({"ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"})


class Risk(StrEnum):
    """What the label says to whoever places work; a node that never was at risk carries none."""

    LOW = "low"
    ELEVATED = "elevated"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of the pool.  `ready_since` is None when the server did not say.

    `held` and `released` are what a person annotated; `released` is the reason given.
    `cordoned_by` is who last wrote `spec.unschedulable`, where the server tells.
    `allocatable` is keyed by resource, in base units (cores, bytes, devices).
    """

    name: str
    uid: str
    resource_version: str
    ready: bool = True
    ready_since: float | None = None
    unschedulable: bool = False
    cordoned_by: str | None = None
    taints: tuple[Taint, ...] = ()
    mark: Mark | None = None
    mark_fault: str | None = None
    held: bool = False
    released: str | None = None
    boot_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, float] = field(default_factory=dict)

    @property
    def cordon_is_ours(self) -> bool:
        """Whether the cordon now on the node is one we wrote and nobody wrote since."""
        wrote = self.mark is not None and self.mark.cordoned and not self.mark.prior_unschedulable
        return wrote and self.unschedulable and self.cordoned_by in {None, FIELD_MANAGER}

    @property
    def unavailable(self) -> bool:
        """Whether new work cannot land here, whoever made it so."""
        if not self.taints:
            return self.unschedulable or not self.ready  # asked of every node for every grant
        forbidden = any(t.effect != Effect.PREFER and t.key == RISK_TAINT for t in self.taints)
        drained = self.other_drainer is not None
        return self.unschedulable or not self.ready or forbidden or drained

    @property
    def other_drainer(self) -> Taint | None:
        """The taint of another owner who drains this node, if any."""
        return next((taint for taint in self.taints if taint.key in OTHER_DRAINERS), None)
