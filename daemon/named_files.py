"""Files that settings name, looked at before anything depends on them."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from daemon.tls import RenewingAdapter, TlsSection, TlsUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from msgspec import Struct

AUTHORITIES = frozenset({"ca_file"})
OTHERS = frozenset({"kubeconfig"})
"""Keys of files whose names do not end in `_file`."""


def troubles(settings: Struct, where: str = "") -> list[str]:
    """Return a line for each file of `settings` that cannot be used: where, which, why."""
    if isinstance(settings, TlsSection):
        return list(_server(settings, where))
    found: list[str] = []
    for name in settings.__struct_fields__:
        value, key = getattr(settings, name), f"{where}.{name}" if where else name
        if isinstance(value, msgspec.Struct):
            found += troubles(value, key)
        elif isinstance(value, tuple):
            found += [line for index, part in enumerate(value) for line in _part(part, key, index)]
        elif isinstance(value, str) and value and (name.endswith("_file") or name in OTHERS):
            found += _file(Path(value), key, authorities=name in AUTHORITIES)
    return found


def _part(value: object, key: str, index: int) -> list[str]:
    return troubles(value, f"{key}[{index}]") if isinstance(value, msgspec.Struct) else []


def _file(path: Path, where: str, *, authorities: bool) -> Iterator[str]:
    expected = "expected certificates in PEM form" if authorities else "expected a readable file"
    try:
        content = path.read_bytes()
    except OSError as error:
        yield f"{where}: {path}: {str(error.strerror).lower()}, {expected}"
        return
    if not content.strip():
        yield f"{where}: {path}: empty, {expected}"
    elif authorities and not _certificates(path):
        yield f"{where}: {path}: no certificate in it, {expected}"


def _certificates(path: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return False
    return True


def _server(section: TlsSection, where: str) -> Iterator[str]:
    try:
        RenewingAdapter(section.files(), None)
    except TlsUnusable as error:
        yield f"{where}: {error}, expected a certificate with its key"
