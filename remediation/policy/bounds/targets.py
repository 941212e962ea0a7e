"""What a node must measure to be a place to go: heat, load, traffic, as the site asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.bounds.checks import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class TargetCondition(Part, frozen=True, kw_only=True):
    """A PromQL query with one value per label `node`, and what the value may be.

    A node without a value does not meet it: what is not known is not good.
    """

    name: str
    query: str
    least: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise ValueError("query is empty, expected PromQL with a value for each node")
        if self.least is None and self.most is None:
            raise ValueError("least and most are both missing, expected one of them")

    def holds(self, value: float | None) -> bool:
        """Return whether a node of that value is good enough; not a number never is."""
        if value is None:
            return False
        enough = self.least is None or value >= self.least
        return enough and (self.most is None or value <= self.most)


# A node that is near its own limit is no place to carry more heat to.
COOL = TargetCondition(
    name="temperature margin",
    query="min by (node) (forewarn_gpu_temperature_margin_celsius)",
    least=5.0,
)


def is_target(
    node: str,
    conditions: Iterable[TargetCondition],
    measured: Mapping[str, Mapping[str, float] | None],
) -> bool:
    """Return whether `node` meets every condition by what was measured, by name of condition."""
    return all(
        condition.holds((measured.get(condition.name) or {}).get(node)) for condition in conditions
    )
