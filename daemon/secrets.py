"""Secrets that live in files, are re-read when the file changes, and never print."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class SecretUnreadable(Exception):
    """The secret's file is missing, empty or not readable."""


class SecretFile:
    """One secret in one file.

    Every read looks at the file again: a rotated Kubernetes Secret appears as a
    new symlink target, and a cached value would outlive it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"SecretFile({str(self.path)!r})"

    def read(self) -> str:
        """Return the secret without surrounding white space; raises `SecretUnreadable`."""
        try:
            value = self.path.read_text(encoding="utf-8").strip()
        except OSError as error:
            why = (error.strerror or "cannot be read").lower()
            raise SecretUnreadable(f"{self.path}: {why}, expected a secret") from error
        except UnicodeDecodeError as error:
            raise SecretUnreadable(f"{self.path}: not UTF-8, expected a secret") from error
        if not value:
            raise SecretUnreadable(f"{self.path}: empty, expected a secret")
        return value

    def matches(self, candidate: str) -> bool:
        """Compare in constant time; an unreadable secret matches nothing."""
        try:
            expected = self.read()
        except SecretUnreadable:
            return False
        return hmac.compare_digest(expected.encode(), candidate.encode())
