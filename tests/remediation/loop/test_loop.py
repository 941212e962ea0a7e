"""The loop's own promises: record before acting, lead or do nothing, survive anything."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from daemon.logs import logger
from remediation.catalog import Catalog
from remediation.inbox import Ticket
from remediation.loop import Loop, Pace
from remediation.policy.bounds.limits import Mode, Rung
from remediation.policy.facts.device import Devices
from remediation.policy.facts.ledger import Ledger, Pause
from remediation.ports import (
    CallFailed,
    Conflict,
    EvictionAnswer,
    EvictionOutcome,
    EvidenceReading,
    FailureReason,
    Pods,
)
from remediation.report import Report
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_mark,
    a_pod,
    a_policy,
    a_pool,
    an_alert,
    an_excluded_node,
    proof,
)
from tests.remediation.memory import HandClock, MemoryLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remediation.policy.steps import EvictWave, NodeWrite


@dataclass
class Scene:
    """Every port of the loop in one object; `order` is what was done, in order."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    pool: dict[str, Any] = field(default_factory=lambda: a_pool(10))
    policy: Any = field(default_factory=a_policy)
    leads: int = 1
    order: list[str] = field(default_factory=list)
    write_fails: Exception | None = None
    nodes_fail: Exception | None = None
    outcome: EvictionOutcome = EvictionOutcome.ACCEPTED
    words: str = ""
    holder: str = "somebody"
    lanes: int = 1
    tickets: tuple[Ticket, ...] = ()
    meanwhile: Callable[[], None] = lambda: None
    alerts: tuple[Any, ...] = (an_alert(),)
    gpus: Devices = field(default_factory=Devices)
    devices_fail: Exception | None = None
    asked_devices: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger.ledger = a_ledger(*self.alerts)
        self.registry = CollectorRegistry()
        self.lines = io.StringIO()
        self.time = HandClock()
        log = logger("loop", style="json", stream=self.lines)  # type: ignore[arg-type]
        self.report = Report(Catalog(self.registry), log, self.time.clock)
        self.loop = Loop(
            cluster=self,
            hook=self,
            ledger=self,
            evidence=self,
            leadership=self,
            policy=lambda: self.policy,
            pace=Pace(tick_seconds=5, poll_seconds=60, lanes=self.lanes),
            clock=self.time.clock,
            report=self.report,
            waiting=lambda: self.tickets,
        )

    def nodes(self) -> dict[str, Any]:
        if self.nodes_fail is not None:
            raise self.nodes_fail
        return self.pool

    def pods(self) -> Pods:
        return Pods({**dict.fromkeys(self.pool, ()), "n1": (a_pod("p1"), a_pod("p2"))})

    def write_node(self, write: NodeWrite) -> None:
        self.order.append(f"{write.decision} {write.node.name}")
        if self.write_fails is not None:
            raise self.write_fails

    def evict(self, wave: EvictWave, *, may_go_on: Any) -> dict[str, EvictionAnswer]:
        self.order.append(f"evict {len(wave.pods)}")
        return {pod.uid: EvictionAnswer(self.outcome, self.words) for pod in wave.pods}

    def named(self, pods: Pods, nodes: Any) -> Pods:
        return pods

    def devices(self, nodes: frozenset[str], pods: Any, *, in_use: bool) -> Devices:
        self.asked_devices.append((sorted(nodes), in_use))
        if self.devices_fail is not None:
            raise self.devices_fail
        return self.gpus

    def taint_gpu(self, step: Any) -> None:
        self.order.append(f"taint {step.device.name} of {step.node.name}")

    def lift_gpu(self, step: Any) -> None:
        self.order.append(f"lift {step.rule.name}")

    def tell(self, _: Any) -> None:
        self.order.append("event")

    def last(self) -> Any:
        return self.ledger.last()

    def read(self, *_: Any) -> Any:
        if _:
            self.meanwhile()
            return EvidenceReading(proof(*{*self.alerts, an_alert("n2")}), {})
        return self.ledger.read()

    def write(self, ledger: Ledger, version: str) -> Any:
        self.order.append("ledger")
        return self.ledger.write(ledger, version)

    def epoch(self) -> int:
        return self.leads

    @contextmanager
    def acting(self) -> Iterator[None]:
        yield

    def errors(self, source: str, reason: str) -> float | None:
        name = "forewarn_remediation_errors_total"
        return self.registry.get_sample_value(name, {"source": source, "reason": reason})

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]

    @property
    def sentence(self) -> str:
        assert self.report.status is not None
        return self.report.status.sentence


def test_the_ledger_is_written_before_the_first_step() -> None:
    scene = Scene()
    assert scene.loop.tick()
    assert scene.order == ["ledger", "exclude n1", "event", "exclude n2", "event"]
    assert set(scene.ledger.ledger.grants) == {"n1", "n2"}


def test_a_replica_that_does_not_lead_writes_nothing_and_shows_what_it_sees() -> None:
    scene = Scene(leads=0)
    assert not scene.loop.tick()
    assert scene.order == []
    assert scene.sentence == "standing by: somebody leads"
    assert scene.report.status is not None
    assert len(scene.report.status.findings) == 2
    assert scene.log() == []


def test_a_rival_write_makes_it_decide_again_on_what_was_written() -> None:
    scene = Scene()
    scene.ledger.rivals = 2
    scene.loop.tick()
    assert scene.order[:3] == ["ledger", "ledger", "ledger"]
    assert scene.ledger.writes == 1


def test_a_pause_that_another_replica_recorded_is_seen_before_a_step_that_writes_nothing() -> None:
    """A relapse costs no grant, so nothing but a fresh look would find the pause."""
    scene = Scene(policy=a_policy(Mode.MIGRATE))
    scene.pool = a_pool(10, an_excluded_node(mark=a_mark(rung=Rung.MIGRATE)))
    scene.loop.tick()
    seen = scene.ledger.read()
    scene.order.clear()
    scene.ledger.seen = seen
    pause = Pause(author="ann", reason="storage work", since=NOW)
    scene.ledger.write(msgspec.structs.replace(seen.ledger, pause=pause), seen.version)
    scene.loop.tick()
    assert scene.order == []
    assert "2 paused" in scene.sentence


def test_a_poll_asked_for_while_evidence_is_read_harms_no_tick() -> None:
    """A truncated post or a new lease asks for it, on a thread of its own."""
    scene = Scene()
    scene.meanwhile = lambda: scene.loop.wake(poll=True)
    assert scene.loop.tick()
    assert scene.errors("loop", "unexpected") == 0


def test_a_burst_is_taken_side_by_side_and_each_step_once() -> None:
    alerts = tuple(an_alert(f"n{number}") for number in range(1, 31))
    scene = Scene(lanes=8, pool=a_pool(40), alerts=alerts)
    assert scene.loop.tick()
    excluded = [done for done in scene.order if done.startswith("exclude")]
    assert sorted(excluded) == sorted(f"exclude n{number}" for number in range(1, 31))
    assert scene.order[0] == "ledger"
    assert scene.order.count("event") == 30


def test_a_ledger_that_cannot_be_written_stops_every_step() -> None:
    scene = Scene()
    scene.ledger.rivals = 100
    assert not scene.loop.tick()
    assert not [done for done in scene.order if done.startswith("exclude")]
    assert scene.sentence == "holding still: the ledger kept changing"


def test_a_leader_that_a_later_one_followed_does_nothing() -> None:
    scene = Scene()
    scene.ledger.ledger = Ledger(epoch=2)
    assert not scene.loop.tick()
    assert scene.order == []
    assert scene.sentence == "holding still: a later leader wrote the ledger"


def test_a_node_that_changed_meanwhile_is_looked_at_again_at_once() -> None:
    scene = Scene(write_fails=Conflict("patch node n1: 409"))
    assert scene.loop.tick()
    assert scene.order == ["ledger", "exclude n1", "exclude n2"]
    assert scene.errors("kubernetes", "conflict") == 0


def test_a_lost_answer_ends_the_tick_and_the_next_one_reads_again() -> None:
    scene = Scene(write_fails=CallFailed("patch node n1: no answer", FailureReason.TIMEOUT))
    assert not scene.loop.tick()
    assert scene.order == ["ledger", "exclude n1"]
    assert scene.errors("kubernetes", "timeout") == 1


def test_one_refused_write_does_not_stop_the_others() -> None:
    scene = Scene(write_fails=CallFailed("patch node n1: 403", FailureReason.FORBIDDEN))
    scene.loop.tick()
    assert scene.order == ["ledger", "exclude n1", "exclude n2"]
    assert scene.errors("kubernetes", "forbidden") == 2


@pytest.mark.parametrize(
    ("outcome", "reason", "progressed"),
    [
        (EvictionOutcome.ACCEPTED, None, True),
        (EvictionOutcome.BUDGET, "disruption_budget", False),
        (EvictionOutcome.MISCONFIGURED, "eviction_refused", False),
    ],
)
def test_a_wave_is_progress_only_when_the_server_let_it_go(
    outcome: EvictionOutcome, reason: str | None, progressed: bool
) -> None:
    scene = Scene(policy=a_policy(Mode.MIGRATE), outcome=outcome)
    scene.pool = a_pool(10, an_excluded_node(mark=a_mark(rung=Rung.MIGRATE)))
    scene.loop.tick()
    assert "evict 2" in scene.order
    assert scene.report.status is not None
    finding = next(f for f in scene.report.status.findings if f.node == "n1")
    assert (finding.refusal.reason if finding.refusal else None) == reason
    name = "forewarn_remediation_evictions_total"
    assert scene.registry.get_sample_value(name, {"outcome": outcome}) == 2
    told = scene.order[scene.order.index("evict 2") + 1 :][:1]
    assert (told == ["event"]) is progressed
