"""The face: readable by people and machines, and changed only with the token."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry
from werkzeug.test import Client

from daemon.logs import logger
from daemon.secrets import SecretFile
from remediation.catalog import Catalog
from remediation.front.pages import Pages
from remediation.policy.facts.ledger import Breaker
from remediation.policy.plan import plan, summary
from remediation.report import Report
from tests.remediation.builders import a_policy, a_pool, a_suspect_snapshot
from tests.remediation.memory import HandClock, MemoryLedger

if TYPE_CHECKING:
    from pathlib import Path

BEARER = {"Authorization": "Bearer let-me-in"}


class Face:
    """The pages with a report behind them."""

    def __init__(self, folder: Path) -> None:
        (folder / "token").write_text("let-me-in", "utf-8")
        self.ledger = MemoryLedger()
        self.registry = CollectorRegistry()
        self.lines = io.StringIO()
        self.woken: list[bool] = []
        self.alive = True
        clock = HandClock().clock
        log = logger("pages", style="json", stream=self.lines)  # type: ignore[arg-type]
        self.report = Report(Catalog(self.registry), log, clock)
        self.pages = Pages(
            registry=self.registry,
            token=SecretFile(folder / "token"),
            ledger=self.ledger,
            status=lambda: self.report.status,
            alive=lambda: self.alive,
            wake=lambda: self.woken.append(True),
            clock=clock,
            log=log,
        )
        self.client = Client(self.pages)

    def tick(self, *, said: str = "said", **changes: Any) -> None:
        """Publish a tick; an empty `said` says what the loop would."""
        snapshot = a_suspect_snapshot(**changes)
        decided = plan(snapshot)
        sentence = said or summary(decided.findings)
        self.report.tick_done(
            snapshot, decided.ledger, decided.findings, sentence=sentence, holder="me"
        )

    def order(self, path: str, body: Any, headers: dict[str, str] = BEARER) -> Any:
        return self.client.post(path, data=json.dumps(body), headers=headers)


@pytest.fixture
def face(tmp_path: Path) -> Face:
    return Face(tmp_path)


def test_before_the_first_tick_it_lives_but_is_not_ready(face: Face) -> None:
    assert face.client.get("/healthz").status_code == 200
    assert face.client.get("/readyz").status_code == 503
    assert "No tick has ended yet." in face.client.get("/").text
    assert face.client.get("/api/v1/budget").status_code == 503


def test_after_a_tick_it_shows_the_sentence_and_every_episode(face: Face) -> None:
    face.tick()
    page = face.client.get("/").text
    assert "said" in page
    assert "n1 is cordoned and tainted" in page
    (episode,) = face.client.get("/api/v1/episodes").json["episodes"]
    assert (episode["node"], episode["state"], episode["decision"]) == (
        "n1",
        "excluded",
        "exclude",
    )
    scopes = face.client.get("/api/v1/budget").json["scopes"]
    assert scopes["pool_share"]["used"] == 1
    assert face.client.get("/readyz").text.splitlines() == ["ok", "leads"]


def test_a_standing_loop_is_not_alive(face: Face) -> None:
    face.alive = False
    assert face.client.get("/healthz").status_code == 503


def test_what_people_wrote_is_escaped(face: Face) -> None:
    face.order("/api/v1/pause", {"author": "<b>ana", "reason": "<script>"})
    face.tick(ledger=face.ledger.ledger)
    page = face.client.get("/").text
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_pause_and_resume_are_recorded_with_author_and_reason(face: Face) -> None:
    answer = face.order("/api/v1/pause", {"author": "ana", "reason": "firmware"})
    assert answer.status_code == 200
    pause = face.ledger.ledger.pause
    assert pause is not None
    assert (pause.author, pause.reason) == ("ana", "firmware")
    assert face.woken == [True]
    assert face.order("/api/v1/resume", {"author": "ana", "reason": "done"}).status_code == 200
    assert face.ledger.ledger.pause is None
    assert [json.loads(line)["event"] for line in face.lines.getvalue().splitlines()] == [
        "order",
        "order",
    ]


def test_an_open_breaker_is_told_and_armed_again_by_resuming(face: Face) -> None:
    from msgspec.structs import replace

    breaker = Breaker(window=(1.0, 2.0), tripped_at=3.0, reason="2 grants within its window")
    face.ledger.ledger = replace(face.ledger.ledger, breaker=breaker)
    face.tick(ledger=face.ledger.ledger)
    assert "breaker open: 2 grants within its window" in face.client.get("/readyz").text
    assert face.registry.get_sample_value("forewarn_remediation_breaker_open") == 1
    face.order("/api/v1/resume", {"author": "ana", "reason": "it was a drill"})
    assert face.ledger.ledger.breaker == Breaker()


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param({"author": "ana", "reason": "x"}, {}, 401, id="no-token"),
        pytest.param(
            {"author": "ana", "reason": "x"}, {"Authorization": "Bearer no"}, 401, id="wrong-token"
        ),
        pytest.param({"author": "ana"}, BEARER, 400, id="no-reason"),
        pytest.param({"author": " ", "reason": "x"}, BEARER, 400, id="blank-author"),
        pytest.param({"author": "ana", "reason": "x" * 201}, BEARER, 400, id="a-long-reason"),
        pytest.param({"author": "a", "reason": "x", "for": "1h"}, BEARER, 400, id="unknown-key"),
        pytest.param({"author": "a", "reason": "x" * 5000}, BEARER, 413, id="a-long-body"),
    ],
)
def test_an_order_that_is_not_one_changes_nothing(
    face: Face, body: Any, headers: dict[str, str], status: int
) -> None:
    assert face.order("/api/v1/pause", body, headers).status_code == status
    assert face.ledger.writes == 0


def test_an_order_that_cannot_be_recorded_is_503(face: Face) -> None:
    face.ledger.broken = True
    assert face.order("/api/v1/pause", {"author": "a", "reason": "x"}).status_code == 503


def test_the_metrics_page_is_served_and_starts_with_zeroes(face: Face) -> None:
    page = face.client.get("/metrics").text
    assert 'forewarn_remediation_episodes{state="held"} 0.0' in page
    assert 'forewarn_remediation_refusals_total{reason="pool_share"} 0.0' in page


def test_a_path_that_is_not_there_is_a_json_404(face: Face) -> None:
    answer = face.client.get("/api/v2/alerts")
    assert answer.status_code == 404
    assert "error" in answer.json


def test_a_standby_shows_what_it_sees_and_decides_nothing(face: Face) -> None:
    face.tick(epoch=0, policy=a_policy(), nodes=a_pool(4))
    assert face.client.get("/readyz").text.splitlines() == ["ok", "stands by for me"]
    assert (
        face.registry.get_sample_value(
            "forewarn_remediation_decisions_total", {"decision": "exclude", "acted": "true"}
        )
        == 0
    )
