"""The evaluation's page stands alone and shows what the table says."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import msgspec
import pytest

from model import cli, runtime
from model.training.judging import table
from model.training.judging.report import Report
from model.training.page.svg import Axis, Plot, ticks

if TYPE_CHECKING:
    from pathlib import Path

MARKS = "<!-- bars-test -->\n<!-- /bars-test -->\n<!-- test -->\n<!-- /test -->\n"
KINDS = {"coolant-loss", "thermal-interface", "memory-storm"}


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_evaluate_writes_one_page_and_the_same_numbers_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html, written = tmp_path / "worth.html", tmp_path / "page.md"
    written.write_text(MARKS, encoding="utf-8")
    asked = ("evaluate", str(cli.BUNDLED), "--simulate", "tiny", "--html", str(html))
    assert cli.main([*asked, "--write", str(written)]) == 0
    printed = capsys.readouterr().out
    report = msgspec.json.decode(html.with_suffix(".json").read_bytes(), type=Report, strict=False)
    page = Reader()
    page.feed(html.read_text(encoding="utf-8"))
    assert page.links == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 3 + 3 * len(report.examples)
    assert {one.kind for one in report.examples} >= KINDS
    assert len(report.rivals) == 7
    for line in report.rivals:
        assert line.name in printed
        assert line.name in page.text
        assert line.shared == line.earlier + len(line.not_earlier)
    assert "static rules, full" in page.text
    _holds_the_run(written.read_text(encoding="utf-8"), report, printed)


def _holds_the_run(page: str, report: Report, printed: str) -> None:
    """Every bar has a row with a mark, and the table of the run stands under its command."""
    held, _, told = page.partition("<!-- test -->")
    rows = [line for line in held.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 10
    assert all(line in printed for line in rows)
    marks = [line.rsplit("|", 2)[1].split()[0] for line in rows]
    assert set(marks) <= {"reached", "missed", "listed", "shown"}
    parity = next(line for line in rows if line.startswith("| parity "))
    assert parity.endswith("| reached |")
    version = runtime.load(cli.BUNDLED).info.version
    assert f"evaluate {cli.BUNDLED} --simulate tiny --write" in told
    assert f"of version {version}:" in told
    assert table.render(report) in told


def test_points_beyond_an_axis_are_drawn_at_its_end() -> None:
    plot = Plot(Axis(0.1, 10.0, (0.1, 1.0), "x", log=True), Axis(0.0, 1.0, (0.0,), "y"), "t")
    assert plot.at(0.0, 2.0) == plot.at(0.1, 1.0)
    assert plot.at(1.0, 0.5)[0] == pytest.approx((plot.at(0.1, 0)[0] + plot.at(10, 0)[0]) / 2)


def test_ticks_are_round() -> None:
    assert ticks(0.0, 1.0) == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert ticks(3.0, 58.0) == (10.0, 20.0, 30.0, 40.0, 50.0)
    assert ticks(1.0, 1.0) == (1.0,)
