"""How much trouble of its own a cluster may have while work is taken from its nodes."""

from __future__ import annotations

import re

from remediation.policy.bounds.checks import Part, at_least, not_negative, percent

_ALERT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class DistressBar(Part, frozen=True, kw_only=True):
    """How much trouble is too much.

    `pending_pods` wait on a node for their GPUs longer than `pending_seconds`;
    pods that a queue holds back do not count.  Nodes that are not ready count
    as distress above the larger of both bounds.  `alerts` are names of alerts.
    """

    pending_pods: int = 10
    pending_seconds: float = 300.0
    not_ready_nodes: int = 3
    not_ready_percent: float = 10.0
    alerts: tuple[str, ...] = ("KubeAPIDown", "etcdNoLeader", "etcdInsufficientMembers")

    def __post_init__(self) -> None:
        at_least(0, pending_pods=self.pending_pods, not_ready_nodes=self.not_ready_nodes)
        not_negative(pending_seconds=self.pending_seconds)
        percent(not_ready_percent=self.not_ready_percent)
        for name in self.alerts:
            if not _ALERT_NAME.match(name):
                raise ValueError(f"alerts holds {name!r}, expected the name of an alert")
