"""A section of a page is replaced whole, and a page without it is refused before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from model import cli
from model.training.worth import sections

PAGE = "# Worth\n\n<!-- one -->\n\nold\n\n<!-- /one -->\nprose\n<!-- two -->\n<!-- /two -->\nend\n"


def test_sections_are_replaced_and_what_stands_around_them_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    for _ in range(2):
        sections.write(page, {"one": "first", "two": "second"})
        assert page.read_text(encoding="utf-8") == (
            "# Worth\n\n<!-- one -->\n\nfirst\n\n<!-- /one -->\nprose\n"
            "<!-- two -->\n\nsecond\n\n<!-- /two -->\nend\n"
        )


def test_the_page_of_the_bundled_model_has_every_section() -> None:
    """And what a run wrote says of which artefact it is."""
    page = Path(__file__).parents[4] / "docs" / "evaluation.md"
    runs = ("test", "quiet", "strangers")
    sections.check(page, [*runs, *(f"bars-{run}" for run in runs), "stock", "no-bmc"])
    text = page.read_text(encoding="utf-8")
    for run in runs:
        assert ", of version " in text.partition(f"<!-- {run} -->")[2].splitlines()[2]


@pytest.mark.parametrize(
    ("more", "lacking"),
    [
        ((), "bars-test"),
        (("--quiet-node-weeks", "500"), "bars-quiet"),
        (("--profile", "stock"), "stock"),
    ],
)
def test_a_page_without_the_section_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], lacking: str
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    asked = ("evaluate", str(cli.BUNDLED), *more, "--write", str(page))
    assert cli.main(asked) == cli.WRONG_LINE
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"no section {lacking}, expected the lines <!-- {lacking} -->" in told
    assert page.read_text(encoding="utf-8") == PAGE


def test_a_page_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("leave-each-out", str(cli.BUNDLED), "--write", str(tmp_path / "none.md"))
    assert cli.main(asked) == cli.WRONG_LINE
    assert "expected a page that exists" in capsys.readouterr().err
