"""R18: a log-in page in place of history; training must never be shorter in silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.prometheus import HistoryUnreadable, Trouble
from model.history.access import Server
from model.history.chunks import Chunks, Wanted
from model.history.question import Address, Question
from model.history.reader import connect
from simulator.history import Recording
from tests.factories.history import START, SimulatedSite
from tests.factories.prometheus import FakePrometheus

LOGIN = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Log in</title>")
AWAY = (302, {"Location": "https://login.example/oauth"}, b"")
NAMES = ("gpu_temperature_celsius",)


@pytest.fixture
def server() -> Iterator[FakePrometheus]:
    fake = FakePrometheus()
    yield fake
    fake.close()


def fetch(server: FakePrometheus, folder: Path) -> None:
    token = folder / "token"
    reader = connect(Server(server.url, token_file=str(token)))
    wanted = Wanted(Question(), NAMES, START, START + 200 * 60, Server(server.url))
    Chunks(folder / "work", wanted, reader).fetch("n1", [Address("node", "n1")], lambda *_: None)


def test_r18_a_token_that_was_rotated_meanwhile_is_read_again(
    server: FakePrometheus, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("old")
    site = SimulatedSite([Recording("healthy", "n1", 3)], 200)

    def answer(asked):
        if asked.authorization == "Bearer old":
            (tmp_path / "token").write_text("new")
            return LOGIN
        return site(asked)

    server.answer = answer
    fetch(server, tmp_path)
    assert [asked.authorization for asked in server.asked] == ["Bearer old", "Bearer new"]
    assert len(list((tmp_path / "work").rglob("*.npz"))) == 1


@pytest.mark.parametrize(
    ("told", "trouble"), [(LOGIN, Trouble.BAD_CONTENT), (AWAY, Trouble.REDIRECTED)]
)
def test_r18_what_is_no_answer_fails_the_chunk_and_leaves_none(
    server: FakePrometheus, tmp_path: Path, told, trouble: Trouble
) -> None:
    (tmp_path / "token").write_text("old")
    server.answer = lambda _: told
    with pytest.raises(HistoryUnreadable) as refused:
        fetch(server, tmp_path)
    assert refused.value.trouble is trouble
    assert not list((tmp_path / "work").rglob("*.npz"))
