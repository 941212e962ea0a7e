"""Who is let in to the page."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from daemon.secrets import SecretFile
from exporter.page.gate import Gate


@pytest.fixture
def token(tmp_path: Path) -> SecretFile:
    (tmp_path / "token").write_text("open sesame\n")
    return SecretFile(tmp_path / "token")


@pytest.fixture
def user(tmp_path: Path) -> tuple[SecretFile, SecretFile]:
    (tmp_path / "username").write_text("prometheus\n")
    (tmp_path / "password").write_text("corréct: horse\r\n")
    return SecretFile(tmp_path / "username"), SecretFile(tmp_path / "password")


def status(gate: Gate, authorization: str = "") -> str:
    refusal = gate.refuse({"HTTP_AUTHORIZATION": authorization} if authorization else {})
    return "" if refusal is None else refusal.status[:3]


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_without_secrets_everybody_reads() -> None:
    assert status(Gate(token=None, user=None)) == ""


def test_the_bearer_of_the_token_reads(token: SecretFile) -> None:
    gate = Gate(token=token, user=None)
    assert status(gate, "Bearer open sesame") == ""
    assert status(gate, "bearer open sesame") == ""
    assert status(gate, "Bearer open") == "401"
    assert status(gate) == "401"


def test_a_rotated_token_replaces_the_old_one_at_once(token: SecretFile) -> None:
    gate = Gate(token=token, user=None)
    token.path.write_text("next\r\n")
    assert status(gate, "Bearer open sesame") == "401"
    assert status(gate, "Bearer next") == ""


def test_a_user_with_the_password_reads(user) -> None:
    gate = Gate(token=None, user=user)
    assert status(gate, basic("prometheus", "corréct: horse")) == ""
    assert status(gate, basic("prometheus", "corréct")) == "401"
    assert status(gate, basic("somebody", "corréct: horse")) == "401"


@pytest.mark.parametrize("presented", ["Basic", "Basic ???", "Basic /w==", "Basic " + "A" * 9_999])
def test_what_is_no_credential_is_refused(user, presented: str) -> None:
    assert status(Gate(token=None, user=user), presented) == "401"


def test_an_unreadable_secret_lets_nobody_in_and_says_that_it_is_ours(token: SecretFile) -> None:
    gate = Gate(token=token, user=None)
    token.path.unlink()
    assert status(gate, "Bearer open sesame") == "503"
    token.path.write_text("\n")
    assert status(gate, "Bearer ") == "503"


def test_either_way_in_is_enough_and_both_are_offered(token: SecretFile, user) -> None:
    gate = Gate(token=token, user=user)
    assert status(gate, "Bearer open sesame") == ""
    assert status(gate, basic("prometheus", "corréct: horse")) == ""
    refusal = gate.refuse({})
    assert refusal is not None
    assert refusal.challenge.startswith("Bearer, Basic realm=")


def test_the_way_that_is_not_configured_does_not_open(token: SecretFile) -> None:
    refusal = Gate(token=token, user=None).refuse({"HTTP_AUTHORIZATION": basic("a", "b")})
    assert refusal is not None
    assert refusal.challenge == "Bearer"
