"""What a pod demands of the node that runs it, and whether a node can meet that.

The required rules only: what a scheduler merely prefers keeps no pod waiting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.policy.facts.taint import Taint

_KEEPS_OUT = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression of a selector, in the API's words."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether `labels` satisfy it; an operator that is not known, never."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        return False

    def _compares(self, value: str | None) -> bool:
        try:
            left, right = int(value or ""), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return left > right if self.operator == "Gt" else left < right


Term = tuple[Requirement, ...]
"""Requirements that must hold together."""


@dataclass(frozen=True, slots=True)
class Toleration:
    """A taint that the pod puts up with; an empty key with `Exists` is every taint."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def covers(self, taint: Taint) -> bool:
        """Return whether the pod puts up with `taint`."""
        if self.effect not in {"", taint.effect}:
            return False
        if self.operator == "Exists":
            return self.key in {"", taint.key}
        return (self.key, self.value) == (taint.key, taint.value)


@dataclass(frozen=True, slots=True)
class Company:
    """Pods that must share a topology domain with this one, or must not.

    They are those of the pod's own namespace that `selector` takes in; with
    `elsewhere` the rule looks at other namespaces, which is more than is read here.
    """

    topology: str
    selector: Term | None
    elsewhere: bool = False

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Return whether a pod of those labels is company.

        No selector selects nobody, an empty one everybody.
        """
        return self.selector is not None and all(one.holds(labels) for one in self.selector)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Pods of a kind that must be spread: no domain may have `most` more than the emptiest.

    They are those of the pod's namespace that `selector` takes in and whose labels
    `keys` are as the pod's.  Below `least_domains` the emptiest counts as empty.
    """

    topology: str
    selector: Term | None
    most: int
    keys: tuple[str, ...] = ()
    least_domains: int = 1
    heeds_affinity: bool = True
    heeds_taints: bool = False

    def selects(self, labels: Mapping[str, str], own: Mapping[str, str]) -> bool:
        """Return whether a pod of `labels` counts for this rule of a pod of its `own`."""
        if self.selector is None or not all(part.holds(labels) for part in self.selector):
            return False
        return all(labels.get(key) == own.get(key) for key in self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """`requests` is keyed by resource, in base units; `terms` None means any node.

    `devices` says that it holds claims of dynamic resource allocation, whose
    size is not known here.  A pod of higher `priority` that `preempts` may end
    others to have their room.
    """

    requests: Mapping[str, float] = field(default_factory=dict)
    terms: tuple[Term, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    near: tuple[Company, ...] = ()
    apart: tuple[Company, ...] = ()
    spread: tuple[Spread, ...] = ()
    devices: bool = False
    priority: int = 0
    preempts: bool = True

    def tolerates(self, taints: tuple[Taint, ...]) -> bool:
        """Return whether no taint keeps the pod out."""
        return all(
            taint.effect not in _KEEPS_OUT or any(t.covers(taint) for t in self.tolerations)
            for taint in taints
        )


def any_holds(terms: tuple[Term, ...] | None, labels: Mapping[str, str]) -> bool:
    """Return whether one of `terms` holds; None is no demand, an empty tuple holds nowhere."""
    if terms is None:
        return True
    return any(term and all(one.holds(labels) for one in term) for term in terms)
