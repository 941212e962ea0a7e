"""Kubernetes quantities as numbers: cores, bytes, devices."""

from __future__ import annotations

import re

_QUANTITY = re.compile(r"([+-]?[0-9]*\.?[0-9]+)([eE][+-]?[0-9]+)?([a-zA-Z]*)\Z")
_SCALE = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}


def quantity(text: str | float) -> float:
    """Read `500m`, `64Gi`, `1e3` or a number in base units; raises `ValueError`."""
    if not isinstance(text, str):
        return float(text)
    found = _QUANTITY.match(text.strip())
    if found is None or found[3] not in _SCALE:
        raise ValueError(f"{text!r} is no quantity, expected a number with a unit such as 64Gi")
    return float(f"{found[1]}{found[2] or ''}") * _SCALE[found[3]]
