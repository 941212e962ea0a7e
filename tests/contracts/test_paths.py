"""Paths that the documents name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP = {path.name for path in ROOT.iterdir()}
DOCUMENTS = [
    *(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "alerts" / "runbooks").glob("*.md"),
    *(ROOT / "deploy").rglob("*.md"),
]
IN_TEXT = re.compile(r"`([\w.-]+/[\w./-]*)`")
LINK = re.compile(r"\]\(([\w./-]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_named_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    # Much in back-ticks looks like a path; one that begins like our tree is one.
    named = {name for name in IN_TEXT.findall(text) if name.split("/")[0] in TOP}
    named |= set(LINK.findall(text))
    places = (ROOT, document.parent)
    assert not {name for name in named if not any((place / name).exists() for place in places)}
