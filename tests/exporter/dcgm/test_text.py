"""One bad line costs one line."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exporter.dcgm import text

GOOD = 'TEMP{gpu="0",UUID="GPU-a"} 61\n'


def read(body: str, **options: bool) -> text.Page:
    return text.read(body.encode(), lambda name: name in {"TEMP", "POWER"}, **options)


@pytest.mark.parametrize(
    "line",
    [
        'TEMP{gpu="0"}',
        "TEMP",
        'TEMP{gpu="0"} ERROR - FAILED TO CONVERT',
        'TEMP{gpu="0} 3',
        'TEMP{gpu="0",gpu="1"} 3',
        'TEMP{gpu="0" UUID="x"} 3',
        'TEMP{err="a "quoted" word"} 3',
        "TEMP 1_000",
        "TEMP ٣",
        "TEMP 0x1F",
        "TEMP " + "9" * 5_000,
    ],
)
def test_a_bad_line_costs_that_line_only(line: str) -> None:
    page = read(f"{GOOD}{line}\n{GOOD}")
    assert [s.value for s in page.samples if s.value is not None] == [61, 61]
    assert page.bad_lines == 1
    assert page.whole


def test_a_bad_value_keeps_its_place_and_has_no_number() -> None:
    page = read('TEMP{UUID="GPU-a"} <<<NULL>>>\n')
    assert page.samples == [text.Sample("TEMP", {"UUID": "GPU-a"}, None)]


def test_unwanted_lines_are_not_looked_into() -> None:
    page = read("OTHER{broken 1\n# HELP TEMP a help text\n\n" + GOOD)
    assert (len(page.samples), page.bad_lines) == (1, 0)


def test_a_body_that_ends_inside_a_number_does_not_yield_the_piece() -> None:
    page = read(GOOD + 'POWER{gpu="0"} 13')
    assert [sample.name for sample in page.samples] == ["TEMP"]
    assert (page.bad_lines, page.whole) == (1, False)


def test_escapes_are_undone() -> None:
    page = read('TEMP{a="q\\"b\\\\n\\nx",UUID="GPU-a",} 1\n')
    assert page.samples[0].labels == {"a": 'q"b\\n\nx', "UUID": "GPU-a"}


def test_blanks_carriage_returns_and_timestamps_are_tolerated() -> None:
    page = read('TEMP { gpu = "0" , UUID="GPU-a" }\t61.5 1\r\nTEMP 7\r\n')
    assert [sample.value for sample in page.samples] == [61.5, 7]


def test_integers_stay_exact() -> None:
    page = read("TEMP 9223372036854775794\n")
    assert page.samples[0].value == 9223372036854775794


def test_openmetrics_without_its_end_is_not_whole() -> None:
    line = 'TEMP{gpu="0"} 63.0 1782000000.125 # {trace_id="4f"} 1.0 1781999990.5\n'
    assert read(f"{line}# EOF\n", openmetrics=True).whole
    assert not read(line, openmetrics=True).whole
    assert read(line).samples[0].value == 63.0


PIECES = st.sampled_from(
    ("TEMP", "POWER", "{", "}", '"', "\\", ",", "=", " ", "\n", "gpu", "UUID", "#", "1", "-2.5")
) | st.sampled_from(
    ("1e3", "NaN", "+Inf", "9223372036854775794", "\r", "\t", "é", "\x00", "GPU-a", 'UUID="x"')
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80))
@example('TEMP{a="\\"} 1\n')
def test_no_text_makes_the_reader_raise_or_invent_a_number(body: str) -> None:
    page = read(body)
    tokens = set(body.replace("}", "} ").split())
    numbers = {text.number(token) for token in tokens}
    for sample in page.samples:
        known = sample.value is None or sample.value != sample.value or sample.value in numbers
        assert known, sample


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_raise(body: bytes) -> None:
    text.read(body, lambda _: True)
