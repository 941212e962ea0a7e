"""Secrets come from files, follow the file, and never print."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.secrets import SecretFile, SecretUnreadable


def test_a_rotated_secret_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "token"
    secret = SecretFile(path)
    path.write_text("first\n")
    assert secret.matches("first")
    path.write_text("second\n")
    assert not secret.matches("first")
    assert secret.matches("second")


def test_an_unreadable_secret_matches_nothing(tmp_path: Path) -> None:
    secret = SecretFile(tmp_path / "absent")
    assert not secret.matches("")
    with pytest.raises(
        SecretUnreadable, match=r"absent: no such file or directory, expected a secret\Z"
    ):
        secret.read()


def test_an_empty_secret_is_refused_not_matched(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(" \n")
    assert not SecretFile(path).matches("")


def test_the_secret_does_not_show_in_repr(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("hunter2")
    secret = SecretFile(path)
    secret.read()
    assert "hunter2" not in repr(secret)
