"""What lies on disk answers only who asks the same server, as the same tenant, the same thing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from model.history.access import Server
from model.history.chunks import Chunks, Wanted
from model.history.question import Address, Family, Question
from model.history.reader import connect
from tests.factories.history import START
from tests.factories.prometheus import FakePrometheus, gpu

NAMES = ("gpu_temperature_celsius", "node_power_watts")
NODE = Question()


@pytest.fixture
def prometheus() -> Iterator[FakePrometheus]:
    fake = FakePrometheus([(gpu("forewarn_gpu_temperature_celsius", "A"), lambda _: 50.0)])
    yield fake
    fake.close()


def fetch(folder: Path, server: Server, question: Question, names=NAMES) -> None:
    wanted = Wanted(question, names, START, START + 120 * 60, server)
    chunks = Chunks(folder, wanted, connect(server))
    chunks.fetch("n1", [Address("node", "n1")], lambda *_: None)


@pytest.mark.parametrize(
    ("server", "question", "flag"),
    [
        ({"tenant": "b"}, {}, "--tenant"),
        ({"url": "http://localhost"}, {}, "--prometheus"),
        ({}, {"labels": ("instance",)}, "--node-label"),
        ({}, {"pattern": "(.*)"}, "--node-pattern"),
        ({}, {"match": {"cluster": "b"}}, "--match"),
        ({}, {"family": Family.DCGM}, "--family"),
        ({"tenant": "b"}, {"pattern": "(.*)"}, "--tenant and --node-pattern"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_who_asks_otherwise_is_answered_by_the_server_and_told_why(
    prometheus: FakePrometheus,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    server: dict[str, str],
    question: dict[str, object],
    flag: str,
) -> None:
    first = Server(prometheus.url, tenant="a")
    fetch(tmp_path, first, NODE)
    asked = len(prometheus.asked)
    assert capsys.readouterr().err == ""
    if "url" in server:
        server = {"url": prometheus.url.replace("127.0.0.1", "localhost")}
    fetch(tmp_path, replace(first, **server), replace(NODE, **question))
    assert len(prometheus.asked) == 2 * asked
    said = capsys.readouterr().err
    assert said == (
        f"forewarn-model: {tmp_path}: what lies there was read with another {flag}: "
        "all is asked anew\n"
    )


def test_who_asks_the_same_again_is_answered_from_disk_also_by_another_credential(
    prometheus: FakePrometheus, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("t")
    fetch(tmp_path / "work", Server(prometheus.url), NODE)
    asked = len(prometheus.asked)
    fetch(tmp_path / "work", Server(prometheus.url, token_file=str(tmp_path / "token")), NODE)
    assert len(prometheus.asked) == asked


def test_other_channels_of_the_same_question_are_asked_without_a_word(
    prometheus: FakePrometheus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch(tmp_path, Server(prometheus.url), NODE)
    fetch(tmp_path, Server(prometheus.url), NODE, NAMES[:1])
    assert len(list(tmp_path.iterdir())) == 2
    assert capsys.readouterr().err == ""


def test_a_folder_that_does_not_say_whose_it_is_answers_nobody(
    prometheus: FakePrometheus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "0123456789ab" / "n1").mkdir(parents=True)
    fetch(tmp_path, Server(prometheus.url), NODE)
    assert len(prometheus.asked) == 1
    assert "does not say of which server and tenant it is: all is asked anew" in (
        capsys.readouterr().err
    )
