"""The counter lists for dcgm-exporter ask for everything that the exporter can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.sources.dcgm import FIELDS

CONFIG = Path(__file__).resolve().parents[2] / "deploy" / "config"
BOARDS = ["hopper", "blackwell"]
LINK_ERRORS = {
    "gpu_nvlink_crc_errors_total",
    "gpu_nvlink_replay_errors_total",
    "gpu_nvlink_recovery_errors_total",
}


def rows(board: str) -> list[list[str]]:
    lines = (CONFIG / f"dcgm-counters-{board}.csv").read_text().splitlines()
    return [
        [cell.strip() for cell in line.split(",")]
        for line in lines
        if line and not line.startswith("#")
    ]


def asked_for(board: str) -> set[str]:
    """Channels that a page made from the list can feed."""
    names = {name for name, *_ in rows(board)}
    return {field.channel for field in FIELDS if names & set(field.names)}


@pytest.mark.parametrize("board", BOARDS)
def test_lines_are_field_type_and_text_once_each(board: str) -> None:
    assert {len(row) for row in rows(board)} == {3}
    assert {kind for _, kind, _ in rows(board)} == {"gauge", "counter"}
    names = [name for name, *_ in rows(board)]
    assert len(names) == len(set(names))


def test_the_list_for_hopper_feeds_every_channel() -> None:
    assert asked_for("hopper") == {field.channel for field in FIELDS}


def test_the_list_for_blackwell_gives_up_link_errors_alone() -> None:
    assert {field.channel for field in FIELDS} - asked_for("blackwell") == LINK_ERRORS


def test_single_bit_errors_are_not_traded_for_link_errors() -> None:
    """The fifth NVLink generation's counters take the single-bit errors off the page."""
    for board in BOARDS:
        names = {name for name, *_ in rows(board)}
        assert "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL" in names
        assert not [name for name in names if name.startswith("DCGM_FI_DEV_NVLINK_COUNT_")]
