"""Orders over HTTP: by API with a bearer token, by a form with no script at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.remediation.front.pages.test_pages import BEARER, Face

if TYPE_CHECKING:
    from pathlib import Path

ORDER = {"author": "ann", "reason": "work"}


@pytest.fixture
def face(tmp_path: Path) -> Face:
    return Face(tmp_path)


def test_a_node_is_held_and_released_by_api(face: Face) -> None:
    answer = face.client.post("/api/v1/episodes/n1/hold", json=ORDER, headers=BEARER)
    assert (answer.status_code, answer.json) == (200, {"outcome": "held", "in_pool": None})
    assert face.ledger.ledger.holds["n1"].author == "ann"
    answer = face.client.post("/api/v1/episodes/n1/release", json=ORDER, headers=BEARER)
    assert answer.json == {"outcome": "released", "in_pool": None}
    assert face.ledger.ledger.holds == {}
    assert face.ledger.ledger.releases["n1"].reason == "work"


@pytest.mark.parametrize(
    ("path", "headers", "body", "status"),
    [
        pytest.param("/api/v1/episodes/n1/hold", {}, ORDER, 401, id="no-token"),
        pytest.param("/api/v1/episodes/N_1/hold", BEARER, ORDER, 400, id="no-node-name"),
        pytest.param("/api/v1/episodes/n1/hold", BEARER, {"author": "a"}, 400, id="no-reason"),
        pytest.param("/api/v1/episodes/n1/delete", BEARER, ORDER, 404, id="unknown-verb"),
        pytest.param("/api/v1/hold", BEARER, ORDER, 404, id="hold-of-nothing"),
        pytest.param("/api/v1/pause", BEARER, {**ORDER, "x": "y" * 5000}, 413, id="too-large"),
    ],
)
def test_what_is_no_order_changes_nothing(
    face: Face, path: str, headers: dict[str, str], body: dict[str, str], status: int
) -> None:
    assert face.client.post(path, json=body, headers=headers).status_code == status
    assert face.ledger.writes == 0
    assert face.woken == []


@pytest.mark.parametrize("verb", ["hold", "release"])
def test_a_node_that_the_pool_lacks_is_no_node_to_order_about_unless_anyway(
    face: Face, verb: str
) -> None:
    face.tick()
    path = f"/api/v1/episodes/n01/{verb}"
    answer = face.client.post(path, json=ORDER, headers=BEARER)
    assert answer.status_code == 404
    assert answer.json == {"error": "the pool has no node n01; n1 may be meant"}
    assert (face.ledger.writes, face.woken) == (0, [])
    answer = face.client.post(path, json={**ORDER, "anyway": True}, headers=BEARER)
    assert (answer.status_code, (answer.json or {})["in_pool"]) == (200, False)
    assert face.ledger.writes == 1


def test_a_hold_of_a_node_that_left_the_pool_can_be_released(face: Face) -> None:
    face.client.post("/api/v1/episodes/gone/hold", json=ORDER, headers=BEARER)
    face.tick(ledger=face.ledger.ledger)
    answer = face.client.post("/api/v1/episodes/gone/release", json=ORDER, headers=BEARER)
    assert answer.status_code == 200
    assert face.ledger.ledger.holds == {}


def test_a_form_about_an_unknown_node_asks_whether_the_name_is_right(face: Face) -> None:
    face.tick()
    form = {**ORDER, "token": "let-me-in"}
    assert b"anyway" not in face.client.get("/order/hold/n01").data
    answer = face.client.post("/order/hold/n01", data=form)
    assert answer.status_code == 404
    assert b'type="checkbox" name="anyway"' in answer.data
    assert face.client.post("/order/hold/n01", data={**form, "anyway": "on"}).status_code == 303
    assert face.ledger.writes == 1


@pytest.mark.parametrize("path", ["/order/pause", "/order/hold/n1"])
def test_a_form_takes_an_order_and_leads_back(face: Face, path: str) -> None:
    page = face.client.get(path)
    assert page.status_code == 200
    assert b'<form method="post">' in page.data
    answer = face.client.post(path, data={**ORDER, "token": "let-me-in"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert face.ledger.writes == 1


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        pytest.param({"token": "guess"}, 401, b"not the operator", id="wrong-token"),
        pytest.param({"reason": "  "}, 400, b"reason must have", id="no-reason"),
    ],
)
def test_a_form_that_is_wrong_comes_back_filled_in(
    face: Face, changes: dict[str, Any], status: int, words: bytes
) -> None:
    answer = face.client.post("/order/pause", data={**ORDER, "token": "let-me-in", **changes})
    assert answer.status_code == status
    assert words in answer.data
    assert b'value="ann"' in answer.data
    assert b"let-me-in" not in answer.data
    assert face.ledger.writes == 0


def test_a_form_survives_hostile_input(face: Face) -> None:
    hostile = "<script>alert(1)</script>"
    answer = face.client.post(
        "/order/pause", data={"author": hostile, "reason": '"><b>', "token": "x"}
    )
    assert b"<script>" not in answer.data
    assert b'"><b>' not in answer.data
    assert face.client.get("/order/hold/%3Cscript%3E").data.count(b"<script") == 0


def test_pages_allow_no_script_and_no_frame(face: Face) -> None:
    face.tick()
    for path in ("/", "/order/pause"):
        policy = face.client.get(path).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy


def test_a_node_is_explained(face: Face) -> None:
    face.tick()
    story = face.client.get("/api/v1/episodes/n1").json
    assert story is not None
    assert story["finding"]["decision"] == "exclude"
    assert story["suspects"][0]["alert"] == "ForewarnNodeFailureLikely"
    assert story["decisions"] == [{"ago": "0 s ago", "sentence": story["finding"]["sentence"]}]
