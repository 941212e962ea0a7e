"""The commands as people type them, against pages on a real socket."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from remediation import __main__ as command
from remediation.cli import _COMMANDS
from remediation.names import near
from remediation.policy.facts.ledger import Breaker, Pause
from tests.remediation.builders import NOW, a_ledger, an_alert

if TYPE_CHECKING:
    from tests.remediation.replica import Replica


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Type a command line; returns exit status, what was printed, what was complained."""

    def type_it(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["forewarn-remediation", *words])
        try:
            status = command.main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = capsys.readouterr()
        return status or 0, said.out, said.err

    return type_it


def test_status_tells_mode_episodes_and_budget(replica: Replica, typed: Any) -> None:
    replica.face.tick()
    status, out, _ = typed("status", "--url", replica.url)
    assert status == 0
    assert out.startswith("mode exclude: said\nthis replica leads\n")
    assert "n1  excluded      n1 is cordoned and tainted: critical" in out
    assert "concurrency" in out


def test_status_shouts_a_pause_and_an_open_breaker(replica: Replica, typed: Any) -> None:
    alert = an_alert()
    stopped = {
        "pause": Pause(author="ann", reason="work", since=NOW),
        "breaker": Breaker(tripped_at=NOW, reason="4 grants within its window"),
    }
    replica.face.tick(ledger=a_ledger(alert, **stopped))
    _, out, _ = typed("status", "--url", replica.url)
    assert "PAUSED by ann: work" in out
    assert "BREAKER OPEN: 4 grants within its window" in out


def test_status_as_json_is_the_answer_itself(replica: Replica, typed: Any) -> None:
    replica.face.tick()
    _, out, _ = typed("status", "--json", "--url", replica.url)
    assert json.loads(out)["episodes"][0]["node"] == "n1"


def test_explain_says_which_guard_refuses_and_what_ends_the_wait(
    replica: Replica, typed: Any
) -> None:
    alert = an_alert()
    pause = Pause(author="ann", reason="work", since=NOW)
    replica.face.tick(ledger=a_ledger(alert, pause=pause))
    status, out, _ = typed("explain", "n1", "--url", replica.url)
    assert status == 0
    lines = out.splitlines()
    assert lines[:3] == [
        "n1: deferred",
        "  n1 waits: paused by ann: work",
        "  paused. Goes on after `forewarn-remediation resume`.",
    ]
    assert "  alert: ForewarnNodeFailureLikely critical, memory within 24h" in lines


@pytest.mark.parametrize(
    ("node", "status", "said"),
    [
        ("n2", 0, "n2 is well as far as known: no alert, no mark, no hold\n"),
        ("nowhere", 68, "nowhere is not in the pool: no alert, no mark, no hold\n"),
        ("n02", 68, "n02 is not in the pool: no alert, no mark, no hold; n2 may be meant\n"),
    ],
)
def test_explain_of_a_node_without_a_story(
    replica: Replica, typed: Any, node: str, status: int, said: str
) -> None:
    replica.face.tick()
    assert typed("explain", node, "--url", replica.url) == (status, said, "")
    assert typed("explain", node, "--json", "--url", replica.url)[0] == status


def test_an_order_about_a_node_that_is_not_there_is_refused_with_what_may_be_meant(
    replica: Replica, typed: Any
) -> None:
    replica.face.tick()
    order = ("--reason", "go", "--author", "ann", "--token-file", str(replica.token_file))
    for verb, done in (("hold", "held"), ("release", "released")):
        words = (verb, "n03", *order, "--url", replica.url)
        assert typed(*words) == (
            68,
            "",
            "forewarn-remediation: not done: the pool has no node n03; n3 may be meant;"
            " if the name is right all the same: --anyway\n",
        )
        said = f"n03: {done}; the pool has no such node\n"
        assert typed(*words, "--anyway") == (0, said, "")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("gpu-17", ("gpu-017", "gpu-117", "gpu-170", "gpu-217"), ("gpu-017",)),
        ("gpu-017.dc1.example", ("gpu-017", "gpu-018"), ("gpu-017",)),
        ("gup-017", ("gpu-017", "cpu-1"), ("gpu-017",)),
        ("nosuch", ("gpu-017", "gpu-018"), ()),
    ],
)
def test_a_name_that_was_meant_is_found(
    name: str, known: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    assert near(name, known) == meant


def test_a_name_with_slashes_asks_for_no_other_page(replica: Replica, typed: Any) -> None:
    replica.face.tick()
    status, out, err = typed("explain", "../x", "--url", replica.url)
    assert (status, out) == (64, "")
    assert err.startswith("forewarn-remediation: '../x': expected the name of a node")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pause",), "remediation: paused\n"),
        (("resume",), "remediation: resumed\n"),
        (("hold", "n1"), "n1: held\n"),
        (("release", "n1"), "n1: released\n"),
    ],
)
def test_orders_are_recorded_and_logged(
    replica: Replica, typed: Any, words: tuple[str, ...], said: str
) -> None:
    orders = ("--reason", "work", "--author", "ann", "--token-file", str(replica.token_file))
    replica.face.tick()
    replica.face.lines.truncate(0)
    replica.face.lines.seek(0)
    status, out, _ = typed(*words, *orders, "--url", replica.url)
    assert (status, out) == (0, said)
    (line,) = [json.loads(line) for line in replica.face.lines.getvalue().splitlines()]
    assert (line["event"], line["author"], line["reason"]) == ("order", "ann", "work")
    assert line["node"] == (words[1] if len(words) > 1 else "")
    assert replica.face.woken == [True]


def test_a_wrong_token_is_no_permission(replica: Replica, typed: Any) -> None:
    wrong = replica.token_file.with_name("wrong")
    wrong.write_text("x", "utf-8")
    status, _, err = typed(
        "pause", "--reason", "x", "--token-file", str(wrong), "--url", replica.url
    )
    assert (status, err) == (77, "forewarn-remediation: not done: expected the bearer token\n")
    assert replica.face.ledger.writes == 0


def test_a_missing_token_file_is_said_with_what_to_do(replica: Replica, typed: Any) -> None:
    missing = str(replica.token_file.with_name("none"))
    status, _, err = typed("pause", "--reason", "x", "--token-file", missing, "--url", replica.url)
    assert status == 77
    assert err == (
        f"forewarn-remediation: {missing}: no such file or directory, expected a secret;"
        " name the token's file with --token-file\n"
    )


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:9", "cannot be reached: connection refused"),
        ("http://nowhere.invalid", "cannot be reached: the name of the host is not known"),
        ("localhost:9479", "not an address, expected http://HOST:PORT"),
        ("http://[", "not an address, expected http://HOST:PORT"),
    ],
)
def test_nobody_there_is_one_line_that_says_where(typed: Any, url: str, why: str) -> None:
    assert typed("status", "--url", url) == (
        69,
        "",
        f"forewarn-remediation: {url}/api/v1/status: {why}; say where with --url\n",
    )


def test_an_order_while_the_pool_cannot_be_seen_is_taken_and_says_so(
    replica: Replica, typed: Any
) -> None:
    order = ("--reason", "x", "--author", "ann", "--token-file", str(replica.token_file))
    status, out, _ = typed("hold", "n1", *order, "--url", replica.url)
    assert (status, out) == (0, "n1: held; the pool cannot be seen now, so check the name\n")


@pytest.mark.parametrize("name", list(_COMMANDS))
def test_every_command_teaches_with_an_example(typed: Any, name: str) -> None:
    status, out, _ = typed(name, "--help")
    assert status == 0
    assert f"  forewarn-remediation {name}" in out
    assert "FOREWARN_REMEDIATION_URL" in out


def test_who_has_no_name_in_a_container_is_asked_for_one(
    replica: Replica, typed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    order = ("pause", "--reason", "x", "--url", replica.url)
    token = ("--token-file", str(replica.token_file))
    status, _, complaint = typed(*order, *token)
    assert (status, complaint) == (
        64,
        "forewarn-remediation: your user has no name here; say who you are with --author\n",
    )
    assert typed(*order, *token, "--author", "ana")[0] == 0
