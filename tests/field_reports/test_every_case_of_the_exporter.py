"""Each public report that concerns the exporter has its test, found by its number."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = (1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 28, 31, 32, 34, 40)


@pytest.mark.parametrize("number", CASES)
def test_a_report_has_a_file_of_tests(number: int) -> None:
    files = list(HERE.glob(f"test_r{number:02}_*.py"))
    assert files
    assert any("\ndef test_" in path.read_text(encoding="utf-8") for path in files)
