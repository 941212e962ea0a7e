"""The outlook of one tick: whose work must leave its node, and what runs there.

Made once from the snapshot, since it does not depend on what the tick grants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remediation.policy import guards
from remediation.policy.eligibility import may_act_on, movable, obstacle
from remediation.policy.floor import Floor
from remediation.policy.jobs import Bond, job_of
from remediation.policy.justify import justified, wanted
from remediation.policy.limits import Rung
from remediation.policy.refusal import Reason, Refusal
from remediation.policy.snapshot import MarkState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.policy.episodes import Episode
    from remediation.policy.jobs import Job
    from remediation.policy.justify import Verdict
    from remediation.policy.snapshot import Node, Pod, Snapshot


@dataclass(frozen=True, slots=True)
class Load:
    """The pods of one job that keep nodes with an episode busy, by node."""

    job: Job
    pods: Mapping[str, tuple[Pod, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """`leaving` are the nodes whose work must leave, with evidence, and may be touched.

    `emptying` are those of them that are excluded for it under a grant.  `doubt`
    is why the model is doubted, `trouble` why no work may be disturbed now.
    `loads_on` and `verdicts` are keyed by node.
    """

    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    loads_on: Mapping[str, tuple[Load, ...]] = field(default_factory=dict)
    leaving: frozenset[str] = frozenset()
    emptying: frozenset[str] = frozenset()
    snapshot: Snapshot
    _floors: list[Floor] = field(default_factory=list, repr=False, compare=False)

    @property
    def floor(self) -> Floor:
        """The floor of the tick, made when first asked for: most ticks move nothing."""
        if not self._floors:
            self._floors.append(Floor(self.snapshot))
        return self._floors[0]

    doubt: Refusal | None = None
    trouble: Refusal | None = None

    def verdict(self, node: str) -> Verdict:
        """Return the worst suspect of `node` that has evidence, or why there is none."""
        none = Refusal(Reason.NOT_FIRING, "nothing about the node is suspect")
        return self.verdicts.get(node, (None, none))

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
    leaving = {
        one.name: one.node
        for one in episodes
        if one.node is not None and _leaves(one, one.node, verdicts, snapshot)
    }
    return Outlook(
        snapshot=snapshot,
        verdicts=verdicts,
        loads_on=_loads_on(snapshot, [one.name for one in episodes]) if leaving else {},
        leaving=frozenset(leaving),
        emptying=frozenset(
            name for name, node in leaving.items() if _empties(name, node, snapshot)
        ),
        doubt=guards.model_fault(snapshot),
        trouble=guards.before_wave(snapshot),
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
    episode: Episode, node: Node, verdicts: Mapping[str, Verdict], snapshot: Snapshot
) -> bool:
    suspect, _ = verdicts.get(episode.name, (None, None))
    if suspect is None or snapshot.policy.ceiling not in {Rung.OBSERVE, Rung.MIGRATE}:
        return False
    if wanted(suspect, snapshot) is not Rung.MIGRATE:
        return False
    mark = node.mark
    if mark is not None and mark.state in {MarkState.DRAINED, MarkState.VERIFYING}:
        return False
    no = untouchable(node, snapshot.epoch) or held(node, episode)
    return no is None and may_act_on(node, snapshot) is None


def _empties(name: str, node: Node, snapshot: Snapshot) -> bool:
    mark, grant = node.mark, snapshot.ledger.grants.get(name)
    if mark is None or grant is None or snapshot.policy.ceiling is not Rung.MIGRATE:
        return False
    granted = grant.id == mark.grant and grant.rung is Rung.MIGRATE
    return granted and mark.cordoned and mark.state is MarkState.EXCLUDED


def _loads_on(snapshot: Snapshot, names: Iterable[str]) -> Mapping[str, tuple[Load, ...]]:
    bar = snapshot.policy.migrate
    by_job: dict[Job, dict[str, list[Pod]]] = {}
    for name in names:
        for pod in movable(snapshot.pods.get(name, ()), bar):
            job = job_of(pod, bar.job_labels)
            by_job.setdefault(job, {}).setdefault(name, []).append(pod)
    on: dict[str, tuple[Load, ...]] = {}
    for job in sorted(by_job):
        load = Load(job, {name: tuple(pods) for name, pods in by_job[job].items()})
        on |= {name: (*on.get(name, ()), load) for name in load.pods}
    return on
