"""What Alertmanager is answered, over a real socket, and what was kept by then."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import requests
from prometheus_client import CollectorRegistry

from daemon.clocks import system_clock
from daemon.logs import logger
from daemon.secrets import SecretFile
from daemon.serving import Server
from remediation.catalog import Catalog
from remediation.front.webhook import (
    CROSSED_SECONDS,
    INBOX_SECONDS,
    LAST_ATTEMPT_SECONDS,
    Webhook,
)
from remediation.inbox import Inbox
from remediation.policy.bounds.limits import Limits
from remediation.policy.facts.ledger import Ledger
from tests.remediation.memory import MemoryLedger
from tests.remediation.monitoring import ALERT, a_post

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "a-secret-of-length"
FIRING = {**ALERT, "node": "n1", "cluster": "east"}


class Ear:
    """A webhook on a socket, with what it keeps and says."""

    def __init__(self, folder: Path) -> None:
        self.ledger = MemoryLedger()
        self.registry = CollectorRegistry()
        self.heard: list[bool] = []
        self.lines = io.StringIO()
        self.leads = False
        self.pool: frozenset[str] = frozenset()
        self.loop_works = True
        self.loop_is_late = False
        self.token_file = folder / "token"
        self.token_file.write_text(TOKEN, "utf-8")
        self.inbox = Inbox(leads=lambda: self.leads, wake=self._record)
        webhook = Webhook(
            token=SecretFile(self.token_file),
            ledger=self.ledger,
            inbox=self.inbox,
            cluster="east",
            limits=lambda: Limits(suspects=3),
            pool=lambda: self.pool,
            body_limit_bytes=20_000,
            heard=self.heard.append,
            clock=system_clock(),
            catalog=Catalog(self.registry),
            log=logger("webhook", style="json", stream=self.lines),  # type: ignore[arg-type]
        )
        self.server = Server(webhook, host="127.0.0.1", port=0, body_limit_bytes=100_000)
        self.server.start()

    def _record(self) -> None:
        """Do what a leader's loop does with a post."""
        for ticket in self.inbox.waiting() if self.loop_works else ():
            stored = self.ledger.read()
            self.ledger.write(ticket.onto(stored.ledger, Limits()), stored.version)
            if not self.loop_is_late:
                ticket.recorded()
                continue
            # It hears of its write only after the webhook, tired of waiting, has looked itself.
            late = threading.Timer(INBOX_SECONDS + CROSSED_SECONDS / 2, ticket.recorded)
            late.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/api/v1/alerts"

    def post(self, body: Any, token: str | None = TOKEN, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return requests.post(
            self.url, data=data, headers=headers, timeout=5, allow_redirects=False, **options
        )

    def posts(self, outcome: str) -> float | None:
        name = "forewarn_remediation_webhook_posts_total"
        return self.registry.get_sample_value(name, {"outcome": outcome})

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    made = Ear(tmp_path)
    yield made
    made.server.close()


def test_a_firing_alert_is_in_the_ledger_before_the_answer(ear: Ear) -> None:
    answer = ear.post(a_post(FIRING))
    assert answer.status_code == 200
    assert [suspect.node for suspect in ear.ledger.ledger.suspects.values()] == ["n1"]
    assert ear.heard == [False]
    assert ear.posts("accepted") == 1


def test_a_repeat_costs_no_write_and_wakes_nobody(ear: Ear) -> None:
    ear.post(a_post(FIRING))
    assert ear.post(a_post(FIRING)).status_code == 200
    assert ear.ledger.writes == 1
    assert ear.heard == [False]
    assert ear.posts("no_change") == 1


def test_a_leader_has_its_loop_record_the_post(ear: Ear) -> None:
    ear.leads = True
    assert ear.post(a_post(FIRING)).status_code == 200
    assert [suspect.node for suspect in ear.ledger.ledger.suspects.values()] == ["n1"]
    assert (ear.ledger.writes, ear.heard) == (1, [])
    assert ear.posts("accepted") == 1


def test_a_leader_whose_loop_is_busy_records_the_post_itself(ear: Ear) -> None:
    ear.leads, ear.loop_works = True, False
    assert ear.post(a_post(FIRING)).status_code == 200
    assert [suspect.node for suspect in ear.ledger.ledger.suspects.values()] == ["n1"]
    assert (ear.ledger.writes, ear.heard) == (1, [False])


def test_a_post_that_crosses_with_the_loops_own_record_is_counted_once_as_kept(ear: Ear) -> None:
    ear.leads, ear.loop_is_late = True, True
    assert ear.post(a_post(FIRING)).json()["outcome"] == "accepted"
    assert (ear.ledger.writes, ear.heard) == (1, [])
    assert (ear.posts("accepted"), ear.posts("no_change")) == (1, 0)


def test_a_post_whose_own_write_lost_to_the_loops_is_kept_and_not_refused(ear: Ear) -> None:
    ear.leads, ear.loop_is_late = True, True
    ear.ledger.seen = ear.ledger.read()
    ear.ledger.hesitates_seconds = LAST_ATTEMPT_SECONDS
    assert ear.post(a_post(FIRING)).status_code == 200
    assert ear.ledger.writes == 1
    assert (ear.posts("accepted"), ear.posts("unavailable")) == (1, 0)


def test_a_late_loop_that_finds_another_replicas_record_kept_nothing(ear: Ear) -> None:
    ear.post(a_post(FIRING))
    ear.leads, ear.loop_is_late = True, True
    assert ear.post(a_post(FIRING)).json()["outcome"] == "known already"
    assert (ear.posts("accepted"), ear.posts("no_change")) == (1, 1)


def test_a_resolved_alert_ends_its_suspect(ear: Ear) -> None:
    ear.post(a_post(FIRING))
    assert ear.post(a_post(FIRING, status="resolved")).status_code == 200
    assert ear.ledger.ledger.suspects == {}


def test_a_rival_replica_in_between_is_no_reason_to_fail(ear: Ear) -> None:
    ear.ledger.rivals = 2
    assert ear.post(a_post(FIRING)).status_code == 200
    assert ear.ledger.writes == 1


def test_a_write_whose_answer_was_lost_is_found_again(ear: Ear) -> None:
    ear.ledger.loses_answers = True
    assert ear.post(a_post(FIRING)).status_code == 200
    assert ear.ledger.writes == 1
    assert (ear.posts("accepted"), ear.heard) == (1, [False])


def test_a_post_that_asks_for_nothing_is_a_no_op_without_a_word(ear: Ear) -> None:
    assert ear.post(a_post({"alertname": "Watchdog"})).json()["outcome"] == "nothing to do"
    assert (ear.posts("nothing_to_do"), ear.posts("unusable"), ear.log()) == (1, 0, [])


@pytest.mark.parametrize(
    ("label", "value", "reason"),
    [
        ("cluster", "west", "other_cluster"),
        ("cluster", None, "no_cluster"),
        ("node", None, "no_node"),
    ],
)
def test_a_post_that_asks_and_cannot_be_used_is_counted_and_one_line(
    ear: Ear, label: str, value: str | None, reason: str
) -> None:
    labels = {**FIRING, label: value}
    alert = {name: told for name, told in labels.items() if told is not None}
    for _ in range(3):
        answer = ear.post(a_post(alert))
    assert (answer.status_code, answer.json()["outcome"]) == (200, "unusable")
    assert ear.posts("unusable") == 3
    name = "forewarn_remediation_ignored_alerts_total"
    assert ear.registry.get_sample_value(name, {"reason": reason}) == 3
    (line,) = ear.log()
    assert (line["event"], line["reasons"]) == ("webhook alerts not usable", {reason: 1})
    assert (line["example"].get(label), line["expected_cluster"]) == (value, "east")
    assert ear.ledger.writes == 0


def test_a_post_of_another_version_is_refused_in_one_line(ear: Ear) -> None:
    assert ear.post({**a_post(FIRING), "version": "3"}).status_code == 400
    assert ear.posts("undecodable") == 1
    (line,) = ear.log()
    assert line["error"].endswith('version "3", expected "4" or "1"')


def test_a_truncated_post_asks_for_a_look_at_alertmanager_itself(ear: Ear) -> None:
    assert ear.post({**a_post(), "truncatedAlerts": 3}).status_code == 200
    assert ear.heard == [True]


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1]])
def test_a_wrong_token_is_401_counted_and_one_line(ear: Ear, token: str | None) -> None:
    for _ in range(3):
        assert ear.post(a_post(FIRING), token=token).status_code == 401
    assert ear.ledger.ledger == Ledger()
    assert ear.posts("unauthorized") == 3
    (line,) = ear.log()
    assert line["event"] == "webhook token wrong"
    assert TOKEN not in ear.lines.getvalue()


def test_a_rotated_token_counts_at_the_next_post(ear: Ear) -> None:
    ear.token_file.write_text("another", "utf-8")
    assert ear.post(a_post(FIRING)).status_code == 401
    assert ear.post(a_post(FIRING), token="another").status_code == 200


def test_an_unreadable_token_file_is_503_so_that_nothing_is_lost(ear: Ear) -> None:
    ear.token_file.unlink()
    assert ear.post(a_post(FIRING)).status_code == 503
    assert ear.log()[0]["event"] == "webhook token unreadable"


def test_a_body_that_is_no_post_is_400_and_one_line_a_minute(ear: Ear) -> None:
    for _ in range(5):
        assert ear.post(b"{").status_code == 400
    assert len(ear.log()) == 1
    assert ear.posts("undecodable") == 5


def test_a_body_over_the_limit_is_413(ear: Ear) -> None:
    assert ear.post(b" " * 30_000).status_code == 413
    assert ear.posts("too_large") == 1


def test_when_nothing_can_be_kept_the_answer_is_503_in_time(ear: Ear) -> None:
    ear.ledger.broken = True
    began = time.monotonic()
    assert ear.post(a_post(FIRING)).status_code == 503
    assert time.monotonic() - began < 1.0
    assert ear.heard == []
    assert ear.posts("unavailable") == 1


def test_a_full_ledger_is_503(ear: Ear) -> None:
    posts = [a_post(*({**FIRING, "node": f"n{n}"} for n in range(count))) for count in (3, 4)]
    assert [ear.post(post).status_code for post in posts] == [200, 503]
    assert len(ear.ledger.ledger.suspects) == 3
    assert ear.posts("ledger_full") == 1


def test_many_alerts_of_nodes_that_are_not_there_are_one_line_and_no_harm(ear: Ear) -> None:
    ear.pool = frozenset({"n1"})
    alerts = [{**FIRING, "node": f"ghost-{number}"} for number in range(50)]
    assert ear.post(a_post(*alerts, FIRING)).status_code == 200
    assert "n1" in {suspect.node for suspect in ear.ledger.ledger.suspects.values()}
    (line,) = ear.log()
    assert (line["reasons"], line["example"]["node"]) == ({"not_in_pool": 48}, "ghost-2")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("PUT", ""), ("POST", "/"), ("POST", "x")]
)
def test_nothing_is_ever_redirected(ear: Ear, method: str, path: str) -> None:
    answer = requests.request(method, ear.url + path, timeout=5, allow_redirects=False)
    assert answer.status_code in {404, 405}


def test_a_client_that_hangs_up_in_its_body_costs_nothing(ear: Ear) -> None:
    with socket.create_connection(("127.0.0.1", ear.server.port)) as client:
        client.sendall(
            b"POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n{"
        )
    assert ear.post(a_post(FIRING)).status_code == 200
