"""When trouble is a domain's and not a node's."""

from __future__ import annotations

from remediation.policy.bounds.checks import Part, at_least, percent, positive


class FacilityBar(Part, frozen=True, kw_only=True):
    """When nodes of one domain fail for a common reason.

    That is when the larger of `nodes` and `node_percent` of them become suspect
    within `window_seconds`, or a critical alert says so itself.  It is over when nothing
    there was suspect for `calm_seconds`.  More than `domains` at once are doubted.
    With `evacuate` work leaves it node by node, as far as every other limit allows.
    """

    nodes: int = 3
    node_percent: float = 30.0
    window_seconds: float = 300.0
    calm_seconds: float = 1800.0
    domains: int = 2
    evacuate: bool = False

    def __post_init__(self) -> None:
        at_least(2, nodes=self.nodes)
        at_least(1, domains=self.domains)
        percent(node_percent=self.node_percent)
        positive(window_seconds=self.window_seconds, calm_seconds=self.calm_seconds)
