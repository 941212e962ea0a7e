"""The requirement lists are those that pyproject.toml stands for."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.contracts.catalogues import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FLOORS = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", one).groups() for one in PROJECT["dependencies"])
LISTS = sorted(path for path in (ROOT / "requirements").glob("*.txt"))


def pinned(name: str) -> dict[str, str]:
    """Return the lowest version of each package in one list."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return dict(reversed(re.findall(r"^([\w-]+)==([\d.]+)", text, re.MULTILINE)))


@pytest.mark.parametrize("package", FLOORS)
def test_the_oldest_list_is_as_old_as_is_allowed(package: str) -> None:
    """A patch release may be later than the floor, where the first was withdrawn."""
    told = pinned("oldest.txt")[package]
    assert f"{told}.".startswith(f"{FLOORS[package]}.")


def test_the_oldest_runtime_is_tested_wherever_everything_is() -> None:
    assert "make test-oldest" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_has_a_hash_for_each_pin_and_no_address(path) -> None:
    text = path.read_text(encoding="utf-8")
    entries = re.findall(r"^[\w.-]+(?:\[[\w,]+\])?==.*\\\n    --hash=sha256:", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^[\w.\[\],-]+==", text, re.MULTILINE))
    assert entries
    assert "://" not in text
