"""The outlook of one tick: whose work must leave its node, and what runs there.

Made once from the snapshot, since it does not depend on what the tick grants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remediation.policy.bounds.limits import Rung
from remediation.policy.episodes import devices
from remediation.policy.episodes.justify import justified, wanted
from remediation.policy.facts.device import Device
from remediation.policy.facts.jobs import Bond, job_of
from remediation.policy.facts.mark import MarkState
from remediation.policy.facts.refusal import Reason, Refusal
from remediation.policy.guards import scene
from remediation.policy.guards.eligibility import may_act_on, movable, obstacle
from remediation.policy.guards.facility import facility_of
from remediation.policy.guards.floor import Floor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.episodes.episode import Episode
    from remediation.policy.episodes.justify import Verdict
    from remediation.policy.facts.jobs import Job
    from remediation.policy.facts.node import Node
    from remediation.policy.facts.pod import Pod
    from remediation.policy.facts.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Load:
    """The pods of one job that keep nodes with an episode busy, by node."""

    job: Job
    pods: Mapping[str, tuple[Pod, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """`leaving` are the nodes whose work must leave, with evidence, and may be touched.

    `emptying` are those of them that are excluded for it under a grant, `evacuated`
    those that leave because their domain is in trouble.  `targets`
    names the one GPU of a node that is to be tainted instead of it, or why it
    cannot be; nodes where nothing asks for that are left out.  `doubt`
    is why the model is doubted, `trouble` why no work may be disturbed now.
    `loads_on` and `verdicts` are keyed by node.
    """

    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    loads_on: Mapping[str, tuple[Load, ...]] = field(default_factory=dict)
    leaving: frozenset[str] = frozenset()
    emptying: frozenset[str] = frozenset()
    evacuated: frozenset[str] = frozenset()
    targets: Mapping[str, Device | Refusal] = field(default_factory=dict)
    snapshot: Snapshot
    _floors: list[Floor] = field(default_factory=list, repr=False, compare=False)

    @property
    def floor(self) -> Floor:
        """The floor of the tick, made when first asked for: most ticks move nothing."""
        if not self._floors:
            self._floors.append(Floor(self.snapshot, self._home()))
        return self._floors[0]

    doubt: Refusal | None = None
    trouble: Refusal | None = None

    def _home(self) -> Mapping[str, Node]:
        """Return the pods (by uid) that leave a GPU and find another one on their own node."""
        found: dict[str, Node] = {}
        for name in sorted(self.leaving):
            node = self.snapshot.nodes[name]
            gpu = scope(node, self.targets)
            if gpu is not None:
                pods = [pod for load in self.loads_on.get(name, ()) for pod in load.pods[name]]
                home = devices.stays_home(pods, node, gpu, self.snapshot.devices)
                found |= dict.fromkeys(home, node)
        return found

    def verdict(self, node: str) -> Verdict:
        """Return the worst suspect of `node` that has evidence, or why there is none."""
        none = Refusal(Reason.NOT_FIRING, "nothing about the node is suspect")
        return self.verdicts.get(node, (None, none))

    def before_grant(self, node: Node, rung: Rung, snapshot: Snapshot) -> Refusal | None:
        """Return why no grant of `rung` may be made for `node` now, or None."""
        return scene.before_grant(node, rung, snapshot, doubt=self.doubt, trouble=self.trouble)

    def mates(self, node: str) -> frozenset[str]:
        """Return `node` and every leaving node that a gang ties to it, directly or through others.

        Whoever empties one of them disturbs a gang of the next: they go together.
        """
        found, rest = {node}, [node]
        while rest:
            here = rest.pop()
            for load in self.loads_on.get(here, ()):
                if load.job.bond is Bond.GANG:
                    new = (set(load.pods) & self.leaving) - found
                    found |= new
                    rest += sorted(new)
        return frozenset(found)

    def moves_from(
        self, names: frozenset[str], snapshot: Snapshot
    ) -> Mapping[Job, tuple[Pod, ...]]:
        """Return what would leave the nodes `names` by job, but for what would not go anyway."""
        bar = snapshot.policy.migrate
        found: dict[Job, tuple[Pod, ...]] = {}
        loads = {load.job: load for name in names for load in self.loads_on.get(name, ())}
        for load in loads.values():
            pods = tuple(pod for name in sorted(names) for pod in load.pods.get(name, ()))
            if not any(obstacle(pod, bar) for pod in pods):
                found[load.job] = pods
        return found


def look(snapshot: Snapshot, episodes: Iterable[Episode]) -> Outlook:
    """Return the outlook; `episodes` are those of the tick."""
    episodes = tuple(episodes)
    verdicts = {one.name: justified(one, snapshot) for one in episodes if one.suspects}
    found = {one.name: devices.target(one, snapshot) for one in episodes if one.suspects}
    targets = {name: target for name, target in found.items() if target is not None}
    evacuated = {
        one.name: one.node
        for one in episodes
        if one.node is not None and _is_evacuated(one, one.node, snapshot)
    }
    leaving = evacuated | {
        one.name: one.node
        for one in episodes
        if one.node is not None and _leaves(one, one.node, verdicts, targets, snapshot)
    }
    return Outlook(
        snapshot=snapshot,
        verdicts=verdicts,
        loads_on=_loads_on(snapshot, [one.name for one in episodes], targets) if leaving else {},
        leaving=frozenset(leaving),
        evacuated=frozenset(evacuated),
        targets=targets,
        emptying=frozenset(
            name for name, node in leaving.items() if _empties(name, node, snapshot)
        ),
        doubt=scene.model_fault(snapshot),
        trouble=scene.before_wave(snapshot),
    )


def untouchable(node: Node, epoch: int) -> Refusal | None:
    """Return why even the node's own story cannot be relied on, or None."""
    if node.mark_fault is not None:
        return Refusal(Reason.MARK_UNREADABLE, node.mark_fault)
    if node.mark is not None and node.mark.node_uid != node.uid:
        return Refusal(Reason.UID_CHANGED, "the mark is of another machine of the same name")
    if node.mark is not None and node.mark.epoch > epoch > 0:
        return Refusal(Reason.SUPERSEDED, "a later leader wrote the mark")
    return None


def held(node: Node, episode: Episode) -> Refusal | None:
    """Return whose hold the node is under, or None."""
    if not node.held and episode.hold is None:
        return None
    why = episode.hold.reason if episode.hold is not None else "annotated by a person"
    return Refusal(Reason.HELD, f"on hold: {why}")


def _leaves(
    episode: Episode,
    node: Node,
    verdicts: Mapping[str, Verdict],
    targets: Mapping[str, Device | Refusal],
    snapshot: Snapshot,
) -> bool:
    suspect, _ = verdicts.get(episode.name, (None, None))
    if suspect is None or snapshot.policy.ceiling not in {Rung.OBSERVE, Rung.MIGRATE}:
        return False
    if wanted(suspect, snapshot) is not Rung.MIGRATE:
        return False
    mark = node.mark
    if mark is not None and mark.state in {MarkState.DRAINED, MarkState.VERIFYING}:
        return False
    if isinstance(targets.get(node.name), Refusal) and not (mark is not None and mark.takes):
        return False  # in place of its GPU the node is excluded, and its work stays
    no = untouchable(node, snapshot.epoch) or held(node, episode)
    return no is None and may_act_on(node, snapshot) is None


def _is_evacuated(episode: Episode, node: Node, snapshot: Snapshot) -> bool:
    """Return whether work must leave `node` because its domain is in trouble now."""
    policy, mark = snapshot.policy, node.mark
    if not policy.facility.evacuate or policy.ceiling is not Rung.MIGRATE or mark is None:
        return False
    facility = facility_of(node, snapshot.ledger, policy.limits)
    blind = snapshot.evidence.alerts is None or snapshot.evidence.predictions is None
    # An event that only lasts because nothing calmed it yet takes nothing more away.
    if facility is None or blind or facility.seen_at != snapshot.now:
        return False
    if mark.gpu is not None or mark.state not in {MarkState.ELEVATED, MarkState.EXCLUDED}:
        return False
    no = untouchable(node, snapshot.epoch) or held(node, episode) or may_act_on(node, snapshot)
    busy = movable(snapshot.pods.get(node.name, ()), policy.migrate)
    return no is None and (bool(busy) or mark.cordoned)


def _empties(name: str, node: Node, snapshot: Snapshot) -> bool:
    mark, grant = node.mark, snapshot.ledger.grants.get(name)
    if mark is None or grant is None or snapshot.policy.ceiling is not Rung.MIGRATE:
        return False
    granted = grant.id == mark.grant and grant.rung is Rung.MIGRATE
    return granted and mark.takes and mark.state is MarkState.EXCLUDED


def scope(node: Node, targets: Mapping[str, Device | Refusal]) -> Device | None:
    """Return the one GPU whose work is meant where work must leave `node`, None for all of it."""
    mark = node.mark
    if mark is not None and mark.takes:
        return mark.gpu
    target = targets.get(node.name)
    return target if isinstance(target, Device) else None


def _loads_on(
    snapshot: Snapshot, names: Iterable[str], targets: Mapping[str, Device | Refusal]
) -> Mapping[str, tuple[Load, ...]]:
    bar = snapshot.policy.migrate
    by_job: dict[Job, dict[str, list[Pod]]] = {}
    for name in names:
        node = snapshot.nodes.get(name)
        gpu = scope(node, targets) if node is not None else None
        for pod in _meant(movable(snapshot.pods.get(name, ()), bar), gpu, snapshot):
            job = job_of(pod, bar.job_labels)
            by_job.setdefault(job, {}).setdefault(name, []).append(pod)
    on: dict[str, tuple[Load, ...]] = {}
    for job in sorted(by_job):
        load = Load(job, {name: tuple(pods) for name, pods in by_job[job].items()})
        on |= {name: (*on.get(name, ()), load) for name in load.pods}
    return on


def _meant(pods: tuple[Pod, ...], gpu: Device | None, snapshot: Snapshot) -> tuple[Pod, ...]:
    if gpu is None:
        return pods
    found = devices.busy(pods, gpu, snapshot.devices)
    # What could not be told is asked again before anything leaves.
    return () if isinstance(found, Refusal) else found
