"""Compressed copies of the shipped files, with the addresses of this trial put in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from simulator.demo import scale

CHECKOUT = Path(__file__).resolve().parents[2]


class NoCheckout(Exception):
    """The shipped files are not where a checkout has them."""


def load(name: str, root: Path = CHECKOUT) -> Any:
    """Parse the shipped YAML file `name`; raises `NoCheckout` when it is not there."""
    path = root / name
    if not path.is_file():
        raise NoCheckout(f"{path}: not found; the demo runs from a checkout of Forewarn")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def compressed(name: str, factor: float, changes: dict[str, Any], root: Path = CHECKOUT) -> Any:
    """Return the shipped file with all durations divided by `factor`, then `changes` merged in."""
    return merged(scale.document(load(name, root), factor), changes)


def merged(base: Any, changes: Any) -> Any:
    """Merge mappings key by key; anything else is replaced."""
    if not (isinstance(base, dict) and isinstance(changes, dict)):
        return changes
    both = {key: merged(base[key], changes[key]) for key in base.keys() & changes.keys()}
    return {**base, **changes, **both}


def write(path: Path, document: Any) -> Path:
    """Write a document as YAML and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path
