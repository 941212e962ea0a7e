"""Everything of one trial, running: cluster, machines, exporters, monitoring, remediation."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from daemon.clocks import Clock, system_clock
from simulator.demo import clusters, exporters, hands, monitoring, programs
from simulator.demo.cluster import Watcher
from simulator.demo.hardware import PREFILL_SECONDS, Hardware
from simulator.demo.plan import JOB, NAMESPACE
from simulator.fleet import lay_out
from simulator.physics.workload import Workload
from simulator.processes import Processes
from simulator.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator.demo.cluster import ClusterLook
    from simulator.demo.plan import Plan
    from simulator.machine import Machine

PLACING_SECONDS = 30.0


class JobNotPlaced(Exception):
    """The trial's job did not come to run on the cluster."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a person can look while the trial runs."""

    prometheus: str
    alertmanager: str
    remediation: str
    exporter: str
    dcgm: str


class Stage:
    """One trial, from entering to leaving; leaving ends every process.

    Raises what the parts raise: `ProgramMissing`, `NotBuilt`, `NoCheckout`,
    `ProcessFailed`, `JobNotPlaced`, each one clear line.
    """

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        self.plan = plan
        self._say = say
        self._clock: Clock = system_clock()
        self._stack = ExitStack()
        self.processes: Processes
        self.hardware: Hardware
        self.watcher: Watcher
        self.addresses: Addresses
        self.kubeconfig: Path
        self.struck = ""

    def __enter__(self) -> Self:
        try:
            self._set_up()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def look(self) -> ClusterLook:
        """Look at the cluster, and let the machines carry what it has placed on them."""
        look = self.watcher.look()
        self.hardware.carry(look)
        return look

    def _set_up(self) -> None:
        plan, keep = self.plan, self._stack.enter_context
        plan.folder.mkdir(parents=True, exist_ok=True)
        found = programs.locate(self._say)
        self.processes = keep(Processes(plan.folder / "logs"))
        run = clusters.real if plan.real_cluster else clusters.embedded
        self.kubeconfig = keep(run(plan))
        self.watcher = Watcher(self.kubeconfig, NAMESPACE, JOB)
        self._stack.callback(self.watcher.close)
        placed = self._wait_for_the_job()
        self.struck = sorted(work.node for work in placed.work)[plan.busy // 2]
        self.hardware = self._machines()
        self.hardware.carry(placed)
        keep(self.hardware)
        self._start_product(found)

    def _start_product(self, found: programs.Programs) -> None:
        plan, processes = self.plan, self.processes
        chosen = exporters.ports(plan.names)
        site = monitoring.choose_ports(plan.folder)
        ours = hands.prepare(plan.folder)
        monitoring.write(
            site,
            plan,
            exporters=chosen,
            remediation_port=ours.status_port,
            webhook_url=ours.webhook_url,
            token_file=ours.token_file,
        )
        exporters.start(plan, self.hardware, chosen, processes)
        monitoring.start(site, plan, found, processes)
        hands.start(ours, plan, site, self.kubeconfig, processes)
        dcgm = {each.node: each.dcgm_url for each in self.hardware.addresses}
        self.addresses = Addresses(
            prometheus=site.prometheus_url,
            alertmanager=site.alertmanager_url,
            remediation=ours.status_url,
            exporter=f"http://127.0.0.1:{chosen[self.struck]}/",
            dcgm=dcgm[self.struck],
        )

    def _machines(self) -> Hardware:
        return Hardware(
            self._layout(),
            clock=self._clock,
            speed=self.plan.scale,
            namespace=NAMESPACE,
            folder=self.plan.folder,
        )

    def _layout(self) -> list[Machine]:
        plan = self.plan
        scenario = Scenario(
            kind=plan.scenario,
            onset_seconds=PREFILL_SECONDS + plan.onset_seconds,
            duration_seconds=plan.duration_seconds,
            severity=plan.severity,
            gpu=5,
        )
        return lay_out(
            nodes=plan.nodes,
            racks=1,
            seed=plan.seed,
            workload=Workload.TRAINING,
            scenario=scenario,
            struck=plan.names.index(self.struck),
        )

    def _wait_for_the_job(self) -> ClusterLook:
        deadline = self._clock.monotonic() + PLACING_SECONDS
        while self._clock.monotonic() < deadline:
            look = self.watcher.look()
            if sum(work.running for work in look.work) == self.plan.busy:
                return look
            time.sleep(0.1)
        raise JobNotPlaced(f"the job {JOB} does not run after {PLACING_SECONDS:.0f} s")
