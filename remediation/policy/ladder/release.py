"""Coming back: resolved is not healthy, so a node must show it for a whole soak.

An empty node shows little: it comes back on probation, softly tainted, until
work has run on it or a long time has passed.

Recovery stays open while new harm is stopped: pause and breaker do not hold a
release back, missing evidence does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from remediation.policy.episodes import devices
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards.domains import crowd_of, name_of
from remediation.policy.guards.eligibility import movable
from remediation.policy.guards.evidence import probability, standing

if TYPE_CHECKING:
    from remediation.policy.bounds.limits import Policy, ReleaseBar
    from remediation.policy.facts.evidence import Evidence
    from remediation.policy.facts.mark import Mark
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.snapshot import Snapshot

# These say that the node is not well; the others, that it could not be told.
RELAPSES = frozenset({Reason.STILL_FIRING, Reason.NODE_LOST, Reason.PROBABILITY_HIGH})


def well(node: Node, mark: Mark, evidence: Evidence, policy: Policy) -> Refusal | None:
    """Return why `node` does not look well now, or None: Ready, quiet, fresh and low."""
    if evidence.alerts is None:
        return Refusal(Reason.ALERTS_UNREADABLE, "Alertmanager could not be read")
    # A silenced alert still holds: a person quieted it, the node did not get better.
    if any(alert.node == node.name for alert in evidence.alerts):
        return Refusal(Reason.STILL_FIRING, "Alertmanager still shows an alert")
    if not node.ready:
        return Refusal(Reason.NODE_LOST, "the node is not ready")
    refusal = standing(node.name, evidence, policy.evidence)
    if refusal is not None:
        return refusal
    value = probability(node.name, mark.horizon, mark.cause, evidence)
    if value is None:
        words = f"no single probability of {mark.cause or 'node'} within {mark.horizon}"
        return Refusal(Reason.PREDICTION_ABSENT, words)
    below = policy.release.probability_below
    if value >= below:
        return Refusal(Reason.PROBABILITY_HIGH, f"the probability is not below {below:g}")
    return None


def soaked(node: Node, mark: Mark, bar: ReleaseBar, now: float) -> Refusal | None:
    """Return why the soak is not over, or None.  A reboot or a lost Ready starts it anew."""
    if mark.state is not MarkState.VERIFYING:
        return Refusal(Reason.SOAKING, "the soak has not begun")
    start = max(mark.since, node.ready_since or mark.since)
    # A clock that jumped back gives a negative age: the soak is not over.
    if now - start < bar.soak_seconds:
        return Refusal(Reason.SOAKING, f"soaking for {bar.soak_seconds:g} s")
    return None


def staggered(node: Node, mark: Mark, snapshot: Snapshot) -> Refusal | None:
    """Return why another release must wait, or None: a herd coming back is ours to prevent."""
    ledger, bar = snapshot.ledger, snapshot.policy.release
    if not mark.takes or ledger.released_at is None:
        return None
    # Drawn by the episode's name: no replica and no tick draws another number.
    jitter = bar.jitter_seconds * crc32(mark.episode.encode()) / (1 << 32)
    if snapshot.now - ledger.released_at < bar.interval_seconds + jitter:
        words = f"one release in {bar.interval_seconds:g} s and a little"
        return Refusal(Reason.RELEASE_INTERVAL, words)
    ahead = ledger.released_in
    if ahead and domain_of(node, snapshot) != ahead and _others_ready(ahead, snapshot):
        return Refusal(Reason.RELEASE_DOMAIN, f"the other nodes of {ahead} come back first")
    return None


def domain_of(node: Node, snapshot: Snapshot) -> str:
    """Return the domain in which `node` comes back, "" when it is in none."""
    domains = snapshot.policy.limits.domains
    crowd = crowd_of(node, domains[0]) if domains else ("", None)
    return name_of(crowd) if crowd[1] is not None else ""


def under_load(node: Node, mark: Mark, snapshot: Snapshot) -> bool:
    """Return whether work ran on the node's GPUs for the whole soak: it has proven itself."""
    since = _working_since(node, snapshot)
    return since is not None and since <= mark.since


def proven(node: Node, mark: Mark, snapshot: Snapshot) -> Refusal | None:
    """Return why the probation is not over, or None: it was low under work, or for very long."""
    bar, now = snapshot.policy.release, snapshot.now
    if now - mark.since >= bar.quiet_probation_seconds:
        return None
    since = _working_since(node, snapshot)
    if since is not None and now - max(mark.since, since) >= bar.probation_seconds:
        return None
    words = (
        f"on probation until work has run on it for {bar.probation_seconds:g} s,"
        f" or {bar.quiet_probation_seconds:g} s have passed"
    )
    return Refusal(Reason.ON_PROBATION, words)


def _working_since(node: Node, snapshot: Snapshot) -> float | None:
    """Return since when the oldest pod that works there now does, None while none does.

    Where a GPU was tainted only work on that one proves anything.
    """
    pods = movable(snapshot.pods.get(node.name, ()), snapshot.policy.migrate)
    if node.mark is not None and node.mark.gpu is not None:
        busy = devices.busy(pods, node.mark.gpu, snapshot.devices)
        pods = () if isinstance(busy, Refusal) else busy
    return min((p.created_at for p in pods if p.ready and p.created_at is not None), default=None)


def _others_ready(domain: str, snapshot: Snapshot) -> bool:
    return any(
        domain_of(node, snapshot) == domain and _ready_to_return(node, snapshot)
        for node in snapshot.nodes.values()
        if node.mark is not None
    )


def _ready_to_return(node: Node, snapshot: Snapshot) -> bool:
    mark, policy = node.mark, snapshot.policy
    ours = node.cordon_is_ours or (mark is not None and mark.taints_gpu)
    if mark is None or not ours or mark.boot_id != node.boot_id:
        return False
    if node.held or node.name in snapshot.ledger.holds:
        return False
    refusal = soaked(node, mark, policy.release, snapshot.now)
    return (refusal or well(node, mark, snapshot.evidence, policy)) is None
