"""The counter lists for dcgm-exporter ask for everything that the exporter can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.sources.dcgm import FIELDS, INGREDIENTS, NODE_CHANNELS, derived, spellings

CONFIG = Path(__file__).resolve().parents[2] / "deploy" / "config"
BOARDS = ["hopper", "blackwell"]
LINK_ERRORS = {
    "gpu_nvlink_crc_errors_total",
    "gpu_nvlink_crc_data_errors_total",
    "gpu_nvlink_replay_errors_total",
    "gpu_nvlink_recovery_errors_total",
}
FIFTH_GENERATION = {
    "gpu_nvlink_recovery_failures_total",
    "gpu_nvlink_symbol_errors_total",
    "gpu_nvlink_effective_errors_total",
}
BEFORE_AMPERE = {
    "gpu_retired_pages_correctable_total",
    "gpu_retired_pages_uncorrectable_total",
    "gpu_page_retirement_pending",
}
ON_DEMAND = {"gpu_fabric_health", *NODE_CHANNELS}
"""Too new, or dangerous to ask for: each list says why and how."""


EVERYTHING = {field.channel for field in FIELDS} - INGREDIENTS.keys()


def rows(board: str) -> list[list[str]]:
    lines = (CONFIG / f"dcgm-counters-{board}.csv").read_text().splitlines()
    return [
        [cell.strip() for cell in line.split(",")]
        for line in lines
        if line and not line.startswith("#")
    ]


def asked_for(board: str) -> set[str]:
    """Channels that a page made from the list can feed, straight or as an ingredient."""
    names = {name for name, *_ in rows(board)}
    fed = {field.channel for field in FIELDS if names & set(field.names)}
    return (fed | derived(dict.fromkeys(fed, 1.0)).keys()) - INGREDIENTS.keys()


@pytest.mark.parametrize("board", BOARDS)
def test_lines_are_field_type_and_text_once_each(board: str) -> None:
    assert {len(row) for row in rows(board)} == {3}
    assert {kind for _, kind, _ in rows(board)} == {"gauge", "counter"}
    names = [name for name, *_ in rows(board)]
    assert len(names) == len(set(names))


def test_the_list_for_hopper_feeds_every_channel() -> None:
    assert EVERYTHING - asked_for("hopper") == FIFTH_GENERATION | ON_DEMAND


def test_the_list_for_blackwell_gives_up_link_errors_and_what_the_board_has_not() -> None:
    given_up = LINK_ERRORS | FIFTH_GENERATION | BEFORE_AMPERE | ON_DEMAND
    assert EVERYTHING - asked_for("blackwell") == given_up


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_left_out_on_purpose_stands_there_to_be_enabled(board: str) -> None:
    text = (CONFIG / f"dcgm-counters-{board}.csv").read_text()
    for channel in ON_DEMAND | (FIFTH_GENERATION if board == "blackwell" else set()):
        assert any(f"# {name}, " in text for name in spellings(channel)), channel


def test_single_bit_errors_are_not_traded_for_link_errors() -> None:
    """The fifth NVLink generation's counters take the single-bit errors off the page."""
    for board in BOARDS:
        names = {name for name, *_ in rows(board)}
        assert "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL" in names
        assert not [name for name in names if name.startswith("DCGM_FI_DEV_NVLINK_COUNT_")]
