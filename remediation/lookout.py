"""The lookout: what is read of the cluster and its monitoring before anything is decided.

What nobody is concerned by is not asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remediation.policy.episodes.devices import concerned as devices_of
from remediation.policy.facts.device import Devices
from remediation.policy.facts.evidence import Evidence
from remediation.policy.facts.snapshot import Snapshot
from remediation.policy.guards.capacity import claims_of
from remediation.policy.plan import pods_wanted
from remediation.ports import CallFailed, Pods

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daemon.clocks import Clock
    from remediation.policy.bounds.limits import Policy
    from remediation.policy.facts.demand import Term
    from remediation.policy.facts.ledger import Ledger
    from remediation.policy.facts.node import Node
    from remediation.ports import Cluster, EvidenceSource
    from remediation.report import Report


class Lookout:
    """Reads one snapshot at a time; Alertmanager is asked unprompted every `poll_seconds`."""

    def __init__(
        self,
        cluster: Cluster,
        evidence: EvidenceSource,
        report: Report,
        clock: Clock,
        *,
        poll_seconds: float,
    ) -> None:
        self._cluster = cluster
        self._evidence = evidence
        self._report = report
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._polled_monotonic: float | None = None

    def poll_now(self) -> None:
        """Ask Alertmanager at the next look even if nothing seems wrong; any thread may call."""
        self._polled_monotonic = None

    def look(
        self, nodes: Mapping[str, Node], ledger: Ledger, policy: Policy, *, epoch: int
    ) -> Snapshot:
        """Return what is true now of `nodes` and of those that `ledger` names; raises `CallFailed`.

        What the server last said to waves and preparations is left out: it is not read.
        """
        evidence = self._read_evidence(nodes, ledger)
        pods = self._read_pods(nodes, ledger, evidence)
        return Snapshot(
            now=self._clock.wall(),
            epoch=epoch,
            nodes=nodes,
            pods=pods.on,
            pending=pods.pending,
            ledger=ledger,
            evidence=evidence,
            policy=policy,
            volumes=self._read_volumes(pods, nodes, ledger),
            devices=self._read_devices(pods, nodes, ledger, policy),
        )

    def _read_evidence(self, nodes: Mapping[str, Node], ledger: Ledger) -> Evidence:
        concerned = {name for name, node in nodes.items() if node.mark is not None}
        concerned |= {s.node for s in ledger.suspects.values() if s.node in nodes}
        if not concerned and not self._poll_is_due():
            return Evidence()
        # Another thread may ask for a poll meanwhile: that one is then due after this.
        began = self._polled_monotonic = self._clock.monotonic()
        reading = self._evidence.read(frozenset(concerned))
        self._report.evidence_took(self._clock.monotonic() - began)
        self._report.evidence_failed(reading.failures)
        return reading.evidence

    def _read_pods(self, nodes: Mapping[str, Node], ledger: Ledger, evidence: Evidence) -> Pods:
        if not pods_wanted(nodes, ledger, evidence):
            return Pods({})
        # An alert that no post brought is judged in the tick that finds it.
        heard = frozenset(alert.node for alert in evidence.alerts or ())
        return self._cluster.named(self._cluster.pods(), _concerned(nodes, ledger) | heard)

    def _read_volumes(
        self, pods: Pods, nodes: Mapping[str, Node], ledger: Ledger
    ) -> Mapping[tuple[str, str], tuple[Term, ...] | None]:
        claims = claims_of(pods.on, _concerned(nodes, ledger))
        return self._cluster.volumes(claims) if claims else {}

    def _read_devices(
        self, pods: Pods, nodes: Mapping[str, Node], ledger: Ledger, policy: Policy
    ) -> Devices:
        """Return what is known of GPUs as devices; unreadable, the rest of the tick goes on."""
        names = devices_of(nodes, ledger, policy)
        there = tuple(pod for name in sorted(names) for pod in pods.on.get(name, ()))
        in_use = bool(names or policy.gpu.causes)
        try:
            return self._cluster.devices(names, there, in_use=in_use)
        except CallFailed as failure:
            self._report.call_failed(failure)
            return Devices()

    def _poll_is_due(self) -> bool:
        last = self._polled_monotonic
        return last is None or self._clock.monotonic() - last >= self._poll_seconds


def _concerned(nodes: Mapping[str, Node], ledger: Ledger) -> frozenset[str]:
    suspect = {one.node for one in ledger.suspects.values()}
    return frozenset(suspect | {name for name, node in nodes.items() if node.mark is not None})
