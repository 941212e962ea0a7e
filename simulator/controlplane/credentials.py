"""What a control plane for tests needs for identity: a signing key, tokens, kubeconfig files."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_P256 = bytes.fromhex("06082a8648ce3d030107")


@dataclass(frozen=True)
class User:
    """One row of the static token file; RBAC sees `name` and `groups`."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)


ADMIN_GROUP = "system:masters"


def write_tokens(path: Path, users: Iterable[User]) -> None:
    """Write the file for --token-auth-file."""
    rows = (f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users)
    path.write_text("".join(rows), encoding="utf-8")


def write_signing_key(path: Path) -> None:
    """Write a fresh P-256 key as SEC 1 PEM, without its public half, which Go derives."""
    scalar = (secrets.randbits(255) + 1).to_bytes(32, "big")
    body = bytes((2, 1, 1, 4, 32)) + scalar + bytes((0xA0, len(_P256))) + _P256
    encoded = base64.b64encode(bytes((0x30, len(body))) + body).decode()
    lines = [encoded[at : at + 64] for at in range(0, len(encoded), 64)]
    path.write_text(
        "\n".join(("-----BEGIN EC PRIVATE KEY-----", *lines, "-----END EC PRIVATE KEY-----", "")),
        encoding="ascii",
    )


def write_kubeconfig(path: Path, url: str, authority: Path, user: User) -> None:
    """Write a kubeconfig for one user."""
    cluster = {"server": url, "certificate-authority": str(authority)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": {"token": user.token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
