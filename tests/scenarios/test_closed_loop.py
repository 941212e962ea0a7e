"""The whole product on a real control plane; nothing is imitated but the hardware.

Fault in the simulator, gauge on the page, rule in Prometheus, post from
Alertmanager, cordon on the real API server, work moved: all before the failure.
The kubelets are imitated too, since there are no machines to run pods on.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests
from kubernetes import client, config

from dashboards.queries import panel_queries
from simulator.demo.exporters import name_of
from simulator.demo.hands import NAME as REMEDIATION
from simulator.demo.observing import Observer
from simulator.demo.plan import NAMESPACE, Plan
from simulator.demo.stage import Stage
from simulator.demo.story import Beat, Observation, Story

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.scenario, pytest.mark.services, pytest.mark.cluster]

LOOK_EVERY_SECONDS = 0.5
AFTERMATH_SECONDS = 300.0


def play(stage: Stage, then: Callable[[Story, Observation], None]) -> Story:
    """Follow the story to its end and call `then` after every look."""
    story = Story(failing=stage.struck, nodes=stage.plan.names, pods=stage.plan.busy)
    observer = Observer(stage)
    while not story.over and (
        stage.hardware.elapsed_seconds() < stage.plan.end_seconds + AFTERMATH_SECONDS
    ):
        stage.processes.check()
        look = observer.look()
        for sentence in story.follow(look):
            print(f"[{look.at_seconds / 60:6.1f} min] {sentence}")
        then(story, look)
        time.sleep(LOOK_EVERY_SECONDS)
    observer.close()
    return story


def query(stage: Stage, promql: str) -> list[dict[str, object]]:
    answer = requests.get(
        f"{stage.addresses.prometheus}/api/v1/query", params={"query": promql}, timeout=10
    )
    assert answer.ok, f"{promql}: {answer.text}"
    found: list[dict[str, object]] = answer.json()["data"]["result"]
    return found


@pytest.mark.usefixtures("control_plane_programs")
def test_work_leaves_before_the_failure_and_kills_change_nothing(tmp_path: Path) -> None:
    killed: set[str] = set()
    fill_before: list[float] = []
    silent: list[set[str]] = []

    def disturb(story: Story, look: Observation) -> None:
        assert len(look.cordoned) <= 1, "more nodes cordoned than the budget allows"
        exporter = name_of(stage.struck)
        if Beat.WATCHING in story.seen and exporter not in killed:
            fill_before.append(fill_ratio(stage))
            kill_and_restart(stage, exporter, killed)
        if story.excluded and REMEDIATION not in killed:
            kill_and_restart(stage, REMEDIATION, killed)
        # A panel about danger is empty when it is over, one about moved work before.
        if (len(silent) == 0 and Beat.CLIMBING in story.seen) or (
            len(silent) == 1 and Beat.MOVED in story.seen
        ):
            silent.append(queries_without_data(stage))

    with Stage(Plan(folder=tmp_path, real_cluster=True), print) as stage:
        story = play(stage, disturb)
        assert story.faults() == []
        assert killed == {name_of(stage.struck), REMEDIATION}
        assert fill_ratio(stage) >= fill_before[0], "the window did not survive the kill"
        assert not set.intersection(*silent), "panels without data"
        assert_done_once(stage)


@pytest.mark.usefixtures("control_plane_programs")
def test_a_look_alike_of_the_same_length_cordons_nothing(tmp_path: Path) -> None:
    with Stage(Plan(folder=tmp_path, scenario="power-capping", real_cluster=True), print) as stage:
        story = play(stage, lambda *_: None)
    assert story.watched
    assert not story.excluded
    assert story.strangers == set()


def kill_and_restart(stage: Stage, name: str, killed: set[str]) -> None:
    stage.processes.kill(name)
    stage.processes.restart(name)
    killed.add(name)


def fill_ratio(stage: Stage) -> float:
    found = query(stage, f'last_over_time(forewarn_window_fill_ratio{{node="{stage.struck}"}}[5s])')
    return float(found[0]["value"][1])  # type: ignore[index]


def queries_without_data(stage: Stage) -> set[str]:
    """Ask every panel but those on equipment, which `test_facility_panels` asks."""
    asked = panel_queries(node=stage.struck, __rate_interval="5s")
    return {
        f"{each.panel}: {each.expr}"
        for each in asked
        if "forewarn_facility_" not in each.expr and not query(stage, each.expr)
    }


def assert_done_once(stage: Stage) -> None:
    """One episode, one cordon, one eviction per pod, whatever was killed in between."""
    core = client.CoreV1Api(config.new_client_from_config(str(stage.kubeconfig)))
    node = core.read_node(stage.struck)
    assert node.spec.unschedulable
    assert json.loads(node.metadata.annotations["forewarn.dev/episode"])["state"]
    pods = core.list_namespaced_pod(NAMESPACE).items
    indices = Counter(
        pod.metadata.labels["batch.kubernetes.io/job-completion-index"] for pod in pods
    )
    assert set(indices.values()) == {1}, "a pod was started twice"
