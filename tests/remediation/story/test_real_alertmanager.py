"""A real Alertmanager before us: its posts, its list of alerts, its silences, its retries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
import yaml

from simulator.processes import Processes, free_port
from tests.remediation.monitoring import ALERT
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.monitoring.fixtures import Programs
    from tests.remediation.site import Site

pytestmark = pytest.mark.services


class Alertmanager:
    """One real Alertmanager that posts to a fixed port of ours."""

    def __init__(
        self,
        folder: Path,
        processes: Processes,
        program: str,
        name: str = "alertmanager",
        port: int = 0,
    ) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.webhook_port = port or free_port()
        receiver = {
            "url": f"http://127.0.0.1:{self.webhook_port}/api/v1/alerts",
            "http_config": {
                "authorization": {"type": "Bearer", "credentials_file": str(folder / "token")}
            },
        }
        document = {
            "route": {
                "receiver": "us",
                "group_by": ["cluster", "node"],
                "group_wait": "0s",
                "group_interval": "1s",
                "repeat_interval": "1m",
            },
            "receivers": [{"name": "us", "webhook_configs": [receiver]}],
        }
        config = folder / f"{name}.yml"
        config.write_text(yaml.safe_dump(document), "utf-8")
        arguments = [
            f"--config.file={config}",
            f"--storage.path={folder / name}",
            f"--web.listen-address={self.url.removeprefix('http://')}",
            "--cluster.listen-address=",
        ]
        processes.start(name, [program, *arguments])
        processes.wait_until_answers(name, f"{self.url}/-/ready")

    def fire(self, node: str) -> None:
        body = [{"labels": {**ALERT, "node": node}, "annotations": {"summary": "x"}}]
        requests.post(f"{self.url}/api/v2/alerts", json=body, timeout=5).raise_for_status()

    def end(self, node: str) -> None:
        body = [{"labels": {**ALERT, "node": node}, "endsAt": "2026-01-01T00:00:00Z"}]
        requests.post(f"{self.url}/api/v2/alerts", json=body, timeout=5).raise_for_status()

    def silence(self, node: str) -> None:
        matcher = {"name": "node", "value": node, "isRegex": False, "isEqual": True}
        body = {
            "matchers": [matcher],
            "startsAt": "2020-01-01T00:00:00Z",
            "endsAt": "2099-01-01T00:00:00Z",
            "createdBy": "ana",
            "comment": "hands off",
        }
        requests.post(f"{self.url}/api/v2/silences", json=body, timeout=5).raise_for_status()


@pytest.fixture
def alertmanager(embedded_site: Site, monitoring_programs: Programs) -> Iterator[Alertmanager]:
    program = monitoring_programs.find("alertmanager")
    with Processes(embedded_site.folder / "logs") as processes:
        yield Alertmanager(embedded_site.folder, processes, program)


@pytest.fixture
def its_peer(
    embedded_site: Site, monitoring_programs: Programs, alertmanager: Alertmanager
) -> Iterator[Alertmanager]:
    """Another one that posts to the same place and hears nothing of the first."""
    program, folder = monitoring_programs.find("alertmanager"), embedded_site.folder
    with Processes(folder / "more-logs") as processes:
        yield Alertmanager(folder, processes, program, "peer", alertmanager.webhook_port)


def listening(alertmanager: Alertmanager) -> dict[str, Any]:
    return {
        "alertmanager": {"url": alertmanager.url},
        "webhook": {"port": alertmanager.webhook_port},
    }


def test_its_post_excludes_and_its_resolve_brings_back(
    embedded_site: Site, alertmanager: Alertmanager
) -> None:
    site = embedded_site
    sick = site.add_nodes(2)[0]
    site.monitoring.probabilities[sick] = 0.9
    with site.run(**listening(alertmanager), pace={"poll_seconds": 600}) as running:
        eventually(lambda: running.metric("leader"))
        alertmanager.fire(sick)
        eventually(lambda: site.cordoned() == [sick])
        eventually(lambda: running.metric("webhook_posts_total", outcome="accepted") >= 1)
        site.monitoring.probabilities[sick] = 0.001
        alertmanager.end(sick)
        eventually(lambda: site.cordoned() == [])


def test_two_that_do_not_hear_each_other_tell_of_one_fault(
    embedded_site: Site, alertmanager: Alertmanager, its_peer: Alertmanager
) -> None:
    site = embedded_site
    sick = site.add_nodes(2)[0]
    site.monitoring.probabilities[sick] = 0.9
    with site.run(**listening(alertmanager)) as running:
        eventually(lambda: running.metric("leader"))
        for one in (alertmanager, its_peer):
            one.fire(sick)
        # Whoever comes second tells nothing new.
        eventually(lambda: running.metric("webhook_posts_total", outcome="no_change") >= 1)
        eventually(lambda: running.reasons() == {sick: "still_firing"})
        # The one that is not asked says that it is over; the other, which is, that it is not.
        its_peer.end(sick)
        eventually(lambda: running.metric("webhook_posts_total", outcome="accepted") >= 2)
        assert site.cordoned() == [sick]
        eventually(lambda: running.reasons() == {sick: "still_firing"})
        assert len(site.ledger().breaker.window) == 1


def test_a_silence_is_hands_off(embedded_site: Site, alertmanager: Alertmanager) -> None:
    site = embedded_site
    sick = site.add_nodes(2)[0]
    site.monitoring.probabilities[sick] = 0.9
    alertmanager.silence(sick)
    alertmanager.fire(sick)
    with site.run(**listening(alertmanager)) as running:
        eventually(lambda: running.reasons() == {sick: "silenced"})
        assert site.cordoned() == []


def test_what_was_posted_while_we_were_away_is_posted_again(
    embedded_site: Site, alertmanager: Alertmanager
) -> None:
    site = embedded_site
    sick = site.add_nodes(2)[0]
    site.monitoring.probabilities[sick] = 0.9
    alertmanager.fire(sick)
    away = {"alertmanager": {"url": "http://127.0.0.1:9"}}
    with site.run(**{**listening(alertmanager), **away}) as running:
        # Asking cannot help here: only the post that Alertmanager repeats brings the alert.
        eventually(lambda: running.metric("webhook_posts_total", outcome="accepted") >= 1)
        eventually(lambda: running.reasons() == {sick: "alerts_unreadable"})
        assert site.cordoned() == []
