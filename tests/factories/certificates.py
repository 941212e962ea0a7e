"""An authority and what it signs, made by openssl."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
LOOPBACK = ["-addext", "subjectAltName=IP:127.0.0.1"]


class Pair(NamedTuple):
    certificate: Path
    key: Path


def authority(folder: Path, name: str = "ca") -> Pair:
    """Return a self-signed authority; skips, visibly, where openssl is not installed."""
    pair = _pair(folder, name)
    _openssl("req", "-x509", *CURVE, "-subj", f"/CN={name}", *_out(pair))
    return pair


def self_signed(folder: Path, name: str) -> Pair:
    """Return a certificate for 127.0.0.1 that vouches for itself."""
    pair = _pair(folder, name)
    _openssl("req", "-x509", *CURVE, "-subj", f"/CN={name}", *LOOPBACK, *_out(pair))
    return pair


def signed(folder: Path, by: Pair, name: str) -> Pair:
    """Return a certificate for 127.0.0.1 that `by` signed."""
    pair = _pair(folder, name)
    issuer = ["-CA", str(by.certificate), "-CAkey", str(by.key)]
    _openssl("req", "-x509", *CURVE, "-subj", f"/CN={name}", *LOOPBACK, *issuer, *_out(pair))
    return pair


def _pair(folder: Path, name: str) -> Pair:
    folder.mkdir(parents=True, exist_ok=True)
    return Pair(folder / f"{name}.crt", folder / f"{name}.key")


def _out(pair: Pair) -> list[str]:
    return ["-keyout", str(pair.key), "-out", str(pair.certificate)]


def _openssl(*arguments: str) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
