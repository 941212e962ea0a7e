"""Each public report has its test in each part that it hits, found by its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.field_reports.registry import CASES, Part

TESTS = Path(__file__).resolve().parents[1]
NAMED = re.compile(r"^### R(\d\d) .*?^- \*\*Part\*\*: (.*?)$", re.MULTILINE | re.DOTALL)
PLACES = [(number, part, place) for number, one in CASES.items() for part, place in one.items()]


@pytest.mark.parametrize(
    ("number", "part", "place"), PLACES, ids=[f"r{n:02}-{part}" for n, part, _ in PLACES]
)
def test_a_place_in_the_registry_exists(number: int, part: Part, place: str) -> None:
    file, words = place.split("::")
    assert any(words in name for name in names(TESTS / file))
    assert words not in {"test_", f"r{number:02}", f"test_r{number:02}"}, "any test's name"
    if file.startswith("field_reports/"):
        assert f"test_r{number:02}_" in file


def test_every_report_is_in_the_registry_with_every_part_that_it_names(shared_data: Path) -> None:
    text = (shared_data.parent / "research" / "field-reports.md").read_text(encoding="utf-8")
    told = {int(number): parts(line) for number, line in NAMED.findall(text)}
    assert told.keys() == CASES.keys()
    lacking = {
        (number, part) for number, named in told.items() for part in named - CASES[number].keys()
    }
    assert not lacking


def test_every_file_of_reports_is_in_the_registry() -> None:
    files = (TESTS / "field_reports").glob("test_r[0-9][0-9]_*.py")
    assert {int(path.name[6:8]) for path in files} == CASES.keys()


@pytest.mark.parametrize("number", CASES)
def test_every_report_has_a_test_of_its_own(number: int) -> None:
    files = (TESTS / "field_reports").glob(f"test_r{number:02}_*.py")
    assert any("\ndef test_" in path.read_text(encoding="utf-8") for path in files)


def names(file: Path) -> list[str]:
    """Return the names of the tests of a module, or of the cases of a file of rules."""
    text = file.read_text(encoding="utf-8")
    told = r"^def (test_\w+)" if file.suffix == ".py" else r"^ *(?:- )?name: (.*)$"
    return re.findall(told, text, re.MULTILINE)


def parts(line: str) -> set[Part]:
    """Read a report's own list: model.training is training, and a schema is the model's."""
    bare = re.sub(r"\([^)]*\)", "", line)
    words = set(re.findall(r"[\w.]+", bare.replace("model.training", "training")))
    words = {word.partition(".")[0] for word in words}
    return {part for part in Part if part in words}
