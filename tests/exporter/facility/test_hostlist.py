"""Node names in ranges, as clusters write them."""

from __future__ import annotations

import pytest

from exporter.facility.hostlist import expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu-7", ["gpu-7"]),
        ("gpu-[8-11]", ["gpu-8", "gpu-9", "gpu-10", "gpu-11"]),
        ("gpu-[008-010,12]", ["gpu-008", "gpu-009", "gpu-010", "gpu-12"]),
        ("r1-[1-2].example", ["r1-1.example", "r1-2.example"]),
    ],
)
def test_a_range_is_its_names_with_their_zeros(text: str, names: list[str]) -> None:
    assert expand(text) == names


def test_a_range_without_end_is_refused_by_its_limit() -> None:
    with pytest.raises(ValueError, match="at most 100000 names in a range of"):
        expand("gpu-[0-99999999]")


@pytest.mark.parametrize("text", ["gpu-[", "gpu-[]", "gpu-[a-b]", "gpu-[9-1]", "a[1]b[2]"])
def test_what_is_no_range_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        expand(text)
