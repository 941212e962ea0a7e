"""Addresses in settings: read once, where a mistake can still be told with its place."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split(url: str, expected: str) -> SplitResult:
    """Return the parts of an http or https address; raises `ValueError` saying `expected`.

    A name or password in it is a mistake: what is in an address is in logs.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{expected}: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise ValueError(expected)
    if parts.username or parts.password:
        raise ValueError("expected url without user name or password; they live in files")
    return parts
