"""What is mirrored is what the server said last; what cannot be known is not pretended."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import urllib3.exceptions
from kubernetes.client.exceptions import ApiException

from remediation.kube.mirror import Mirror
from remediation.ports import CallFailed, FailureReason
from tests.remediation.kube.server import Server, an_object, event
from tests.remediation.memory import HandClock
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def mirrored(server: Server, **changes: Any) -> Iterator[Mirror[str, str]]:
    time = changes.pop("time", HandClock())
    mirror = Mirror(server.feed(), stream_seconds=10, call_seconds=0.5, clock=time.clock, **changes)
    yield mirror
    mirror.close()


def reason_of(mirror: Mirror[str, str]) -> FailureReason | None:
    try:
        mirror.values()
    except CallFailed as failure:
        return failure.reason
    return None


def test_every_page_of_a_list_is_held() -> None:
    server = Server(pages=[[an_object("a", "1", 3)], [an_object("b", "2", 4)]])
    with mirrored(server) as mirror:
        assert mirror.values() == {"a": "1", "b": "2"}
        eventually(lambda: server.watched_from == ["10"])


def test_additions_changes_and_deletions_are_followed_and_told() -> None:
    server = Server(pages=[[an_object("a", "1", 3)]])
    told: list[Any] = []
    with mirrored(server, changed=lambda before, after: told.append((before, after))) as mirror:
        mirror.values()
        server.say(event("ADDED", "b", "2", 11))
        server.say(event("MODIFIED", "a", "3", 12))
        server.say(event("MODIFIED", "a", "3", 13))
        server.say(event("DELETED", "b", "2", 14))
        eventually(lambda: mirror.values() == {"a": "3"} and len(told) == 4)
    assert told == [(None, "1"), (None, "2"), ("1", "3"), ("2", None)]


def test_an_event_that_arrives_in_pieces_is_one_event() -> None:
    server = Server()
    line = json.dumps(event("ADDED", "a", "1", 11)).encode() + b"\n"
    with mirrored(server) as mirror:
        server.lines.put(line[:9])
        server.lines.put(line[9:] + line[:5])
        server.lines.put(line[5:])
        eventually(lambda: mirror.values() == {"a": "1"})


def test_a_stream_that_ended_is_taken_up_where_the_last_bookmark_stood() -> None:
    server = Server()
    with mirrored(server) as mirror:
        mirror.values()
        server.say({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "77"}}})
        server.lines.put(None)
        eventually(lambda: server.watched_from == ["10", "77"])
        assert (server.listed, reason_of(mirror)) == (1, None)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param({"type": "ERROR", "object": {"code": 410, "message": "too old"}}, id="410"),
        pytest.param({"type": "ERROR", "object": {"code": 500, "message": "x"}}, id="500"),
        pytest.param({"type": "ADDED"}, id="no-object"),
        pytest.param(["not", "an", "event"], id="no-event"),
    ],
)
def test_a_history_that_is_lost_is_listed_anew(end: Any) -> None:
    server = Server(pages=[[an_object("a", "1", 3)]])
    with mirrored(server) as mirror:
        mirror.values()
        server.pages, server.version = [[an_object("b", "2", 20)]], 20
        server.say(end)
        eventually(lambda: server.listed == 2 and reason_of(mirror) is None)
        assert mirror.values() == {"b": "2"}


def test_a_watch_that_is_refused_as_too_old_is_listed_anew() -> None:
    server = Server()
    with mirrored(server) as mirror:
        mirror.values()
        server.refuses = ApiException(status=410, reason="Gone")
        server.lines.put(None)
        eventually(lambda: reason_of(mirror) is FailureReason.STALE)
        server.refuses = None
        eventually(lambda: server.listed == 2 and reason_of(mirror) is None)


def test_a_cut_stream_is_unknown_until_it_is_open_again() -> None:
    server = Server(pages=[[an_object("a", "1", 3)]])
    with mirrored(server) as mirror:
        mirror.values()
        server.refuses = urllib3.exceptions.NewConnectionError(None, "refused")  # type: ignore[arg-type]
        server.lines.put(urllib3.exceptions.ProtocolError("cut"))
        eventually(lambda: reason_of(mirror) is FailureReason.UNREACHABLE)
        server.refuses = None
        eventually(lambda: reason_of(mirror) is None)
        assert mirror.values() == {"a": "1"}
        # The place was not lost: nothing was listed again.
        assert (server.listed, server.watched_from) == (1, ["10", "10"])


def test_a_server_that_cannot_be_listed_is_told_at_once() -> None:
    server = Server(refuses=ApiException(status=403, reason="Forbidden"))
    with mirrored(server) as mirror:
        assert reason_of(mirror) is FailureReason.FORBIDDEN


def test_silence_beyond_a_whole_stream_is_not_quiet_but_unknown() -> None:
    server, time = Server(), HandClock()
    with mirrored(server, time=time) as mirror:
        mirror.values()
        eventually(lambda: server.watched_from)
        time.pass_time(10.9)
        assert reason_of(mirror) is None
        time.pass_time(0.2)
        assert reason_of(mirror) is FailureReason.STALE
        server.say(event("ADDED", "a", "1", 11))
        eventually(lambda: reason_of(mirror) is None)


def test_what_we_wrote_is_seen_before_the_stream_tells_it() -> None:
    server = Server(pages=[[an_object("a", "1", 3)]])
    with mirrored(server) as mirror:
        mirror.values()
        mirror.note(json.dumps(an_object("a", "ours", 12)).encode())
        assert mirror.values() == {"a": "ours"}
        server.say(event("MODIFIED", "a", "older", 11))
        server.say(event("ADDED", "b", "2", 13))
        eventually(lambda: "b" in mirror.values())
        assert mirror.values() == {"a": "ours", "b": "2"}


def test_an_answer_that_comes_late_does_not_bring_a_deleted_object_back() -> None:
    server = Server(pages=[[an_object("a", "1", 3)]])
    with mirrored(server) as mirror:
        mirror.values()
        server.say(event("DELETED", "a", "1", 13))
        eventually(lambda: mirror.values() == {})
        mirror.note(json.dumps(an_object("a", "ours", 12)).encode())
        assert mirror.values() == {}
