"""The query API: bounded, patient with the busy, never fooled, never leaking a credential."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from daemon.prometheus import (
    HistoryUnreadable,
    Prometheus,
    Range,
    TooMuch,
    Trouble,
)
from exporter.backfill.settings import BackfillSettings
from tests.factories.prometheus import FakePrometheus, gpu

OVER = Range(1_700_000_000.0, 1_700_000_120.0, 60.0)
LOGIN = b"<!doctype html><title>Log in</title>"


@pytest.fixture
def server() -> Iterator[FakePrometheus]:
    fake = FakePrometheus()
    yield fake
    fake.close()


def client(server: FakePrometheus, **settings) -> Prometheus:
    made = Prometheus(
        BackfillSettings(url=server.url, **settings).access,
        requests.Session(),
        monotonic=time.monotonic,
        stop=threading.Event(),
    )
    made.begin()
    return made


def trouble(server: FakePrometheus, **settings) -> Trouble:
    with pytest.raises(HistoryUnreadable) as failure:
        client(server, **settings).query_range("up", OVER)
    return failure.value.trouble


def test_a_matrix_is_read(server: FakePrometheus) -> None:
    server.series.append((gpu("forewarn_x", "A"), lambda wall: wall - 1_700_000_000.0))
    (one,) = client(server).query_range("up", OVER)
    assert one.metric["uuid"] == "A"
    assert one.values == [(OVER.start, "0.0"), (OVER.start + 60, "60.0"), (OVER.end, "120.0")]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, b'{"error":"exceeded maximum resolution of 11,000 points per timeseries"}'),
        (422, b'{"error":"query processing would load too many samples into memory"}'),
        (500, b"query length: 1440h0m0s, limit: 768h0m0s (err-mimir-max-query-length)"),
        (422, b"the query exceeded the maximum allowed limit, limit exceeded"),
        (503, b"expanding series: too many samples"),
        (413, b""),
    ],
)
def test_a_limit_in_whatever_face_asks_for_less(
    server: FakePrometheus, status: int, said: bytes
) -> None:
    server.answer = lambda _: (status, {}, said)
    with pytest.raises(TooMuch):
        client(server).query_range("up", OVER)
    assert len(server.asked) == 1


def test_a_body_over_the_cap_asks_for_less(server: FakePrometheus) -> None:
    server.series.append((gpu("forewarn_x", "A"), lambda _: 1.0))
    with pytest.raises(TooMuch, match="more than 64 bytes"):
        client(server, body_limit_bytes=64).query_range("up", OVER)


def test_a_busy_server_is_asked_again_a_few_times(server: FakePrometheus) -> None:
    busy: list[bytes] = [b"", b""]
    server.answer = lambda _: (503, {"Retry-After": "0"}, busy.pop()) if busy else None
    assert client(server).query_range("up", OVER) == []
    assert len(server.asked) == 3
    server.answer = lambda _: (503, {"Retry-After": "0"}, b"")
    assert trouble(server) is Trouble.BUSY


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((200, {"Content-Type": "text/html"}, LOGIN), Trouble.BAD_CONTENT),
        (
            (200, {}, b'{"status":"success","data":{"resultType":"vector","result":[]}}'),
            "bad_content",
        ),
        ((200, {}, b'{"status":"success","data":{"resultType":"matr'), Trouble.BAD_CONTENT),
        ((302, {"Location": "https://login.example/oauth"}, b""), Trouble.REDIRECTED),
        ((400, {}, b'{"error":"parse error"}'), Trouble.REFUSED),
        ((500, {}, b"internal"), Trouble.REFUSED),
    ],
)
def test_what_is_no_answer_is_named(server: FakePrometheus, told, expected) -> None:
    server.answer = lambda _: told
    assert trouble(server) == expected
    # A credential may have expired in this moment, so what looks like it is asked once more.
    assert len(server.asked) == (2 if expected == Trouble.BAD_CONTENT else 1)


def test_a_token_that_was_just_rotated_is_read_again(
    server: FakePrometheus, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text("old\n")

    def rotate(asked):
        if asked.authorization == "Bearer old":
            path.write_text("new\n")
            return 401, {}, b""
        return None

    server.answer = rotate
    assert client(server, token_file=str(path)).query_range("up", OVER) == []
    assert [asked.authorization for asked in server.asked] == ["Bearer old", "Bearer new"]
    server.answer = lambda _: (403, {}, b"")
    assert trouble(server, token_file=str(path)) is Trouble.UNAUTHORIZED


def test_a_user_and_password_are_sent_as_they_are(server: FakePrometheus, tmp_path: Path) -> None:
    (tmp_path / "name").write_text("reader")
    (tmp_path / "password").write_text("pässword")
    files = {"username_file": str(tmp_path / "name"), "password_file": str(tmp_path / "password")}
    client(server, **files).query_range("up", OVER)
    assert server.asked[0].authorization == "Basic cmVhZGVyOnDDpHNzd29yZA=="


def test_an_unreadable_secret_sends_nothing(server: FakePrometheus, tmp_path: Path) -> None:
    assert trouble(server, token_file=str(tmp_path / "none")) is Trouble.SECRET_UNREADABLE
    assert server.asked == []


def test_the_deadline_holds_against_a_server_that_never_ends(server: FakePrometheus) -> None:
    def slow(_):
        time.sleep(2)

    server.answer = slow
    begun = time.monotonic()
    assert trouble(server, deadline_seconds=0.3) is Trouble.OUT_OF_TIME
    assert time.monotonic() - begun < 1.5


def test_a_slow_answer_within_the_deadline_asks_for_less(server: FakePrometheus) -> None:
    server.answer = lambda _: time.sleep(1)
    with pytest.raises(TooMuch, match="no answer"):
        client(server, timeout_seconds=0.2).query_range("up", OVER)


def test_requests_are_counted_and_limited(server: FakePrometheus) -> None:
    one = client(server, requests_limit=2)
    one.query_range("up", OVER)
    one.query_range("up", OVER)
    with pytest.raises(HistoryUnreadable) as failure:
        one.query_range("up", OVER)
    assert failure.value.trouble is Trouble.OUT_OF_REQUESTS
    one.begin()
    one.query_range("up", OVER)


def test_nobody_there_is_unreachable() -> None:
    server = FakePrometheus()
    server.close()
    assert trouble(server) is Trouble.UNREACHABLE
