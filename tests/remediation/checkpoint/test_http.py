"""Asking over a real socket: what each answer means, and everything that is not one."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from werkzeug.wrappers import Request, Response

from daemon.serving import Server
from remediation.checkpoint_http import HttpHook
from remediation.policy.facts.snapshot import Part
from tests.remediation.builders import a_pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Trainer:
    """A pod that answers what a test tells it to."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, Any]] = []
        self.release = threading.Event()
        self.release.set()
        self.server = Server(self, host="127.0.0.1", port=0)

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        self.asked.append((request.path, json.loads(request.get_data())))
        self.release.wait(5)
        response = Response("body", status=self.status, headers=self.headers)
        found: Iterable[bytes] = response(environ, start_response)
        return found


@pytest.fixture
def trainer() -> Iterator[Trainer]:
    found = Trainer()
    found.server.start()
    yield found
    found.release.set()
    found.server.close()


def ask(trainer: Trainer, path: str = "/save") -> Part:
    hook = HttpHook(
        timeout_seconds=0.3, url_of=lambda _: f"http://127.0.0.1:{trainer.server.port}{path}"
    )
    try:
        return hook.ask(a_pod(), "llm.1")
    finally:
        hook.close()


@pytest.mark.parametrize(
    ("status", "part"),
    [
        (200, Part.DONE),
        (204, Part.DONE),
        (202, Part.WORKING),
        (404, Part.UNSUPPORTED),
        (405, Part.UNSUPPORTED),
        (501, Part.UNSUPPORTED),
        (500, Part.FAILED),
        (503, Part.FAILED),
        (400, Part.FAILED),
    ],
)
def test_an_answer_is_read_by_its_status(trainer: Trainer, status: int, part: Part) -> None:
    trainer.status = status
    assert ask(trainer) is part
    assert trainer.asked == [("/save", {"id": "llm.1"})]


def test_a_redirect_is_never_followed(trainer: Trainer) -> None:
    trainer.status = 307
    trainer.headers = {"Location": f"http://127.0.0.1:{trainer.server.port}/secret"}
    assert ask(trainer) is Part.FAILED
    assert [path for path, _ in trainer.asked] == ["/save"]


def test_who_saves_within_the_call_is_at_work_and_not_broken(trainer: Trainer) -> None:
    trainer.release.clear()
    assert ask(trainer) is Part.WORKING


def test_nobody_there_is_a_failure(trainer: Trainer) -> None:
    hook = HttpHook(timeout_seconds=0.3, url_of=lambda _: "http://127.0.0.1:1/save")
    assert hook.ask(a_pod(), "llm.1") is Part.FAILED
    hook.close()


def test_proxies_of_the_environment_are_not_used(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    assert ask(trainer) is Part.DONE


def test_a_pod_that_may_not_be_asked_is_not(trainer: Trainer) -> None:
    hook = HttpHook(timeout_seconds=0.3)
    notes = {"forewarn.dev/checkpoint-http": f"{trainer.server.port}/save"}
    assert hook.ask(a_pod(address="127.0.0.1", notes=notes), "x") is Part.UNSUPPORTED
    assert trainer.asked == []
    hook.close()
