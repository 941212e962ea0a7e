"""R36: a list of incidents in local time, where one hour exists twice and one not at all."""

from __future__ import annotations

import pytest

from model.history.incidents import Incident, IncidentsRefused, parse, unknown

HEAD = "start,end,node,cause"
ROWS = (
    "2026-10-25 02:30,2026-10-25 02:50,gpu-a17,memory",
    "2026-03-29 02:15,2026-03-29 03:10,gpu-b02,thermal",
    "2026-10-25T02:30:00+01:00,2026-10-25T02:50:00+01:00,gpu-a17,memory",
    "1792888200,1792889400,gpu-a19,power",
    "25.10.2026 14:00,25.10.2026 14:20,gpu-a20,power",
    "2026-11-02T10:20:00Z,2026-11-02T10:00:00Z,gpu-a21,device",
    "2026-11-02T10:00:00Z,,gpu-A22,device",
)
GOOD = (ROWS[2], ROWS[3], ROWS[6])


def as_file(rows, *, spreadsheet: bool) -> bytes:
    text = "\n".join((HEAD, *rows)) + "\n"
    if spreadsheet:
        return ("\ufeff" + text.replace(",", ";").replace("\n", "\r\n")).encode()
    return text.encode()


@pytest.mark.parametrize("spreadsheet", [False, True], ids=["plain", "BOM, CRLF and ;"])
def test_r36_all_mistakes_are_told_in_one_run_and_nothing_of_the_list_is_used(
    spreadsheet: bool,
) -> None:
    with pytest.raises(IncidentsRefused) as refused:
        parse(as_file(ROWS, spreadsheet=spreadsheet), "list.csv")
    offset = "expected an offset or Z"
    expected = [("line 2", offset), ("line 3", offset), ("line 6", offset), ("line 7", "before")]
    assert len(refused.value.problems) == len(expected)
    for problem, (line, words) in zip(refused.value.problems, expected, strict=True):
        assert problem.startswith(f"{line}: ")
        assert words in problem
    assert str(refused.value).splitlines()[0] == "list.csv: 4 rows cannot be used, so none is:"


@pytest.mark.parametrize("spreadsheet", [False, True])
def test_r36_times_with_an_offset_or_as_seconds_are_one_moment(spreadsheet: bool) -> None:
    found = parse(as_file(GOOD, spreadsheet=spreadsheet), "list.csv")
    assert found == [
        Incident(2, "gpu-a17", "", 1_792_891_800.0, 1_792_893_000.0, "memory"),
        Incident(3, "gpu-a19", "", 1_792_888_200.0, 1_792_889_400.0, "power"),
        Incident(4, "gpu-A22", "", 1_793_613_600.0, None, "device"),
    ]


def test_r36_a_node_that_no_series_knows_is_reported_with_the_one_that_may_be_meant() -> None:
    found = parse(as_file(GOOD, spreadsheet=False), "list.csv")
    (line,) = unknown(found, {"gpu-a17", "gpu-a19", "gpu-a22"})
    assert line == "line 4: node 'gpu-A22': no series knows it; is it 'gpu-a22'?"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected a header with node, start"),
        (b"node,when,cause\n", "found 'node, when, cause'"),
        (b"node,start,cause,start\n", "expected a header"),
        (b"node,start,cause\nn1,1792888200\n", "line 2: 2 cells, expected 3"),
        (b"node,start,cause\n,1792888200,power\n", "node is empty"),
        (b"node,start,cause\nn1,1792888200,fire\n", "cause 'fire': expected one of memory"),
        (b"node,start,cause\nn1,1792888200000,power\n", "expected an offset or Z"),
        (b"node,start,cause\nn1,17,power\n", "expected a time between 2000 and 2100"),
        (b"node,start,cause\nn1,1792888200,planned\n", "planned work needs an end"),
        (b"node,start,cause\nn\xff1,1792888200,power\n", "not UTF-8 at byte 18"),
    ],
)
def test_r36_each_mistake_has_its_line_and_what_was_expected(content: bytes, words: str) -> None:
    with pytest.raises(IncidentsRefused, match=words):
        parse(content, "list.csv")


def test_r36_a_list_of_no_incidents_is_a_list() -> None:
    assert parse(b"node,time,cause,gpu,note\n\n", "list.csv") == []
