"""A channel without a value looks like a healthy one unless somebody says so."""

from __future__ import annotations

import pytest

from exporter.readings import Missing, Place, SourceReadings
from exporter.window import blindness, snapshot
from exporter.window.blindness import ADVICE
from model.sources import dcgm as spell
from tests.exporter.dcgm.pages import Pages, line
from tests.factories.sources import A, B, dcgm, gpus, up


def taken(readings: SourceReadings) -> snapshot.NodeSnapshot:
    return snapshot.take([up(readings, 1_000.0)], 1_000.0, expected=gpus(A), expected_count=1)


def stock_page() -> snapshot.NodeSnapshot:
    return taken(Pages().read(line("DCGM_FI_DEV_GPU_TEMP", 61, A)))


def test_what_the_counter_list_leaves_out_is_blind_and_says_which_field_to_list() -> None:
    blind = {one.channel.name: one for one in blindness.blind(stock_page())}
    errors = blind["gpu_memory_correctable_errors_total"]
    assert errors.kind is Missing.ABSENT_FAMILY
    assert errors.field == "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"
    assert "counter list" in errors.advice
    assert "gpu_temperature_celsius" not in blind


def test_a_margin_may_be_had_by_its_own_field_or_by_a_board_constant() -> None:
    assert "DCGM_FI_DEV_SLOWDOWN_TEMP" in spell.spellings("gpu_temperature_margin_celsius")


def test_no_xid_yet_is_no_blindness() -> None:
    unlisted = blindness.unlisted(stock_page())
    assert "gpu_xid_code" not in unlisted
    assert "gpu_row_remap_pending" in unlisted
    assert not [name for name in unlisted if name.startswith(("rack_", "node_power"))]


def test_a_channel_that_one_gpu_has_is_not_blind() -> None:
    page = dcgm({A: 61}, missing={Place("gpu_temperature_celsius", B): Missing.SENTINEL})
    assert "gpu_temperature_celsius" not in {o.channel.name for o in blindness.blind(taken(page))}


def test_a_source_that_nobody_names_says_which_setting_would() -> None:
    blind = {one.channel.name: one for one in blindness.blind(stock_page())}
    assert "bmc.url" in blind["node_power_watts"].advice


@pytest.mark.parametrize("kind", [k for k in Missing if k not in ADVICE])
def test_every_kind_has_an_advice(kind: Missing) -> None:
    assert kind in {Missing.ABSENT_FAMILY, Missing.NO_SOURCE}
