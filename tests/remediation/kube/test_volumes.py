"""What the server's answers about volume snapshots mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client
from werkzeug.wrappers import Request, Response

from daemon.serving import Server
from remediation.kube.connection import Connection
from remediation.kube.volumes import snapshot_name, take
from remediation.policy.facts.snapshot import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Api:
    """Answers by method with what a test tells it to."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.sent: list[Any] = []
        self.server = Server(self, host="127.0.0.1", port=0)

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        kind = "content" if "volumesnapshotcontents" in request.path else request.method
        status, document = self.answers[kind]
        if request.method == "POST":
            self.sent.append(json.loads(request.get_data()))
        response = Response(json.dumps(document), status=status, mimetype="application/json")
        found: Iterable[bytes] = response(environ, start_response)
        return found

    def take(self, snapshot_class: str = "") -> Part:
        settings = client.Configuration(host=f"http://127.0.0.1:{self.server.port}")
        connection = Connection(client.ApiClient(settings), "forewarn", 2.0)
        return take(connection, "jobs", "data", name="llm.1", snapshot_class=snapshot_class)


@pytest.fixture
def api() -> Iterator[Api]:
    found = Api()
    found.server.start()
    yield found
    found.server.close()


def status(code: int) -> tuple[int, Any]:
    return code, {"kind": "Status", "code": code}


def a_snapshot(**state: Any) -> tuple[int, Any]:
    return 200, {"metadata": {"uid": "u1"}, "status": state}


@pytest.mark.parametrize(
    ("created", "part"),
    [
        (201, Part.WORKING),
        (409, Part.WORKING),
        (404, Part.UNSUPPORTED),
        (403, Part.FAILED),
        (500, Part.FAILED),
    ],
)
def test_one_that_is_not_there_is_created(api: Api, created: int, part: Part) -> None:
    api.answers = {"GET": status(404), "POST": status(created)}
    assert api.take() is part
    (body,) = api.sent
    assert body["metadata"]["name"] == "data-llm.1"
    assert body["spec"] == {"source": {"persistentVolumeClaimName": "data"}}


def test_a_class_is_named_only_when_the_policy_names_one(api: Api) -> None:
    api.answers = {"GET": status(404), "POST": status(201)}
    api.take("fast")
    assert api.sent[0]["spec"]["volumeSnapshotClassName"] == "fast"


@pytest.mark.parametrize(
    ("snapshot", "part"),
    [
        pytest.param(a_snapshot(), Part.WORKING, id="just-made"),
        pytest.param(a_snapshot(error={"message": "x"}), Part.FAILED, id="refused"),
        pytest.param(a_snapshot(readyToUse=True), Part.WORKING, id="ready-but-bound-to-nothing"),
        pytest.param(
            a_snapshot(boundVolumeSnapshotContentName="c"), Part.WORKING, id="bound-not-ready"
        ),
        pytest.param(status(503), Part.FAILED, id="server-busy"),
        pytest.param((200, {"status": "?"}), Part.FAILED, id="not-a-snapshot"),
    ],
)
def test_one_that_is_there_is_looked_at(api: Api, snapshot: Any, part: Part) -> None:
    api.answers = {"GET": snapshot}
    assert api.take() is part
    assert api.sent == []


@pytest.mark.parametrize(
    ("content", "part"),
    [
        pytest.param((200, {"spec": {"volumeSnapshotRef": {"uid": "u1"}}}), Part.DONE, id="ours"),
        pytest.param((200, {"spec": {"volumeSnapshotRef": {"uid": "u2"}}}), Part.FAILED, id="not"),
        pytest.param(status(404), Part.WORKING, id="not-yet-there"),
    ],
)
def test_its_content_must_name_it_back(api: Api, content: Any, part: Part) -> None:
    ready = a_snapshot(readyToUse=True, boundVolumeSnapshotContentName="c")
    api.answers = {"GET": ready, "content": content}
    assert api.take() is part


@pytest.mark.parametrize(
    ("claim", "name", "expected"),
    [
        ("data", "llm.1", "data-llm.1"),
        ("data", "LLM_7/3.1", "data-llm-7-3.1"),
        ("d" * 250, "x.1", "d" * 196 + "-x.1"),
    ],
)
def test_the_name_is_always_the_same_and_always_allowed(
    claim: str, name: str, expected: str
) -> None:
    assert snapshot_name(claim, name) == expected
