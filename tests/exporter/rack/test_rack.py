"""What a node takes from the facility's page: its rack's channels, the worst of its equipment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import requests
import responses

from exporter.dcgm import text
from exporter.rack import RackSource, judge, rack_of
from exporter.readings import Missing, Place, Reason, SourceFailed
from exporter.settings import RackSettings
from model import schema
from model.sources.facility import RACK, RACK_TERMS

URL = "http://facility.example:9477/metrics"
PAGE = """\
forewarn_facility_rack_info{rack="r1",node="n1"} 1
forewarn_facility_rack_info{rack="r2",node="n2"} 1
forewarn_facility_source_up{equipment="cdu-1",rack="r1"} 1
forewarn_facility_equipment_info{equipment="cdu-1",rack="r1",kind="cdu"} 1
forewarn_facility_equipment_info{equipment="cdu-2",rack="r1",kind="cdu"} 1
forewarn_facility_equipment_info{equipment="pdu-a",rack="r1",kind="rack_pdu"} 1
forewarn_facility_equipment_info{equipment="pdu-b",rack="r1",kind="rack_pdu"} 1
forewarn_facility_coolant_supply_temperature_celsius{equipment="cdu-1",rack="r1"} 31
forewarn_facility_coolant_supply_temperature_celsius{equipment="cdu-2",rack="r1"} 34.5
forewarn_facility_coolant_supply_temperature_celsius{equipment="cdu-9",rack="r2"} 60
forewarn_facility_coolant_flow_liters_per_minute{equipment="cdu-1",rack="r1"} 120
forewarn_facility_coolant_flow_liters_per_minute{equipment="cdu-2",rack="r1"} 90
forewarn_facility_leak_detected{equipment="cdu-1",rack="r1"} 0
forewarn_facility_leak_detectors_unreadable{equipment="cdu-1",rack="r1"} 0
forewarn_facility_power_watts{equipment="cdu-1",rack="r1"} 900
forewarn_facility_power_watts{equipment="pdu-a",rack="r1"} 7000
forewarn_facility_power_watts{equipment="pdu-b",rack="r1"} 6500
forewarn_facility_branch_load_ratio{equipment="pdu-a",rack="r1"} 0.4
forewarn_facility_branch_load_ratio{equipment="pdu-b",rack="r1"} 0.7
"""


def judged(page: str) -> tuple[dict[Place, float], dict[Place, Missing]]:
    samples = text.read(page.encode(), lambda name: True).samples
    return judge(samples, rack_of(samples, "n1"))


def rack(channel: str) -> Place:
    return Place(RACK + channel)


def test_the_worst_of_several_pieces_speaks_and_feeds_add_up() -> None:
    values, _ = judged(PAGE)
    assert values[rack("coolant_supply_temperature_celsius")] == 34.5
    assert values[rack("coolant_flow_liters_per_minute")] == 90
    assert values[rack("power_watts")] == 13_500, "what a CDU draws does not feed the rack"
    assert values[rack("branch_load_ratio")] == 0.7
    assert values[rack("leak_detected")] == 0


def test_every_channel_of_the_rack_is_a_value_or_missing() -> None:
    values, missing = judged(PAGE)
    rows = {c.name for c in schema.channels(schema.Level.NODE) if c.name.startswith(RACK)}
    assert (
        {place.channel for place in (*values, *missing)} == rows == {RACK + c for c in RACK_TERMS}
    )
    assert missing[rack("reservoir_level_ratio")] is Missing.ABSENT_FAMILY


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (('unreadable{equipment="cdu-1",rack="r1"} 0', 'unreadable{equipment="cdu-1",rack="r1"} 1'),
         Missing.UNREADABLE),
        (('source_up{equipment="cdu-1",rack="r1"} 1', 'source_up{equipment="cdu-1",rack="r1"} 0'),
         Missing.UNREADABLE),
    ],
)  # fmt: skip
def test_while_a_detector_or_its_equipment_is_silent_nothing_is_dry(change, kind) -> None:
    _, missing = judged(PAGE.replace(*change))
    assert missing[rack("leak_detected")] is kind


def test_a_leak_is_a_leak_whoever_else_is_silent() -> None:
    page = PAGE.replace('leak_detected{equipment="cdu-1",rack="r1"} 0',
                        'leak_detected{equipment="cdu-1",rack="r1"} 1')  # fmt: skip
    values, _ = judged(page.replace('rack="r1"} 0', 'rack="r1"} 1'))
    assert values[rack("leak_detected")] == 1


def test_half_of_the_feeds_is_not_the_racks_power() -> None:
    down = 'forewarn_facility_source_up{equipment="pdu-b",rack="r1"} 0\n'
    page = re.sub(r".*power_watts\{equipment=\"pdu-b\".*\n", "", PAGE) + down
    _, missing = judged(page)
    assert missing[rack("power_watts")] is Missing.UNREADABLE


def test_what_a_shelf_delivers_goes_before_what_feeds_it() -> None:
    shelf = (
        'forewarn_facility_equipment_info{equipment="s",rack="r1",kind="power_shelf"} 1\n'
        'forewarn_facility_output_watts{equipment="s",rack="r1"} 12000\n'
        'forewarn_facility_power_watts{equipment="s",rack="r1"} 12600\n'
    )
    values, _ = judged(PAGE + shelf)
    assert values[rack("power_watts")] == 12_000


def test_an_impossible_value_is_missing_and_not_clipped() -> None:
    values, missing = judged(PAGE.replace("} 34.5", "} 999"))
    assert missing[rack("coolant_supply_temperature_celsius")] is Missing.OUT_OF_RANGE
    assert values[rack("coolant_flow_liters_per_minute")] == 90


def source(**settings: str) -> RackSource:
    return RackSource(
        RackSettings(url=URL, **settings), requests.Session(), node="n1", monotonic=lambda: 0.0
    )


@responses.activate
def test_the_rack_is_the_one_that_the_page_names_for_the_node() -> None:
    responses.get(URL, PAGE)
    values = source().read(0.0).values
    assert values[rack("coolant_supply_temperature_celsius")] == 34.5
    assert source(rack="r2").read(0.0).missing[rack("power_watts")] is Missing.ABSENT_FAMILY


@responses.activate
def test_a_node_that_no_rack_holds_is_told_what_to_do() -> None:
    responses.get(URL, PAGE.replace('node="n1"', 'node="n7"'))
    with pytest.raises(SourceFailed) as failure:
        source().read(0.0)
    assert failure.value.reason is Reason.NO_RESOURCE
    assert "no rack holds node n1" in failure.value.detail


@responses.activate
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, "", Reason.UNAUTHORIZED),
        (503, "", Reason.HTTP_OTHER),
        (302, "", Reason.HTTP_OTHER),
        (200, "", Reason.NO_SAMPLES),
        (200, "node_load1 3\n", Reason.NO_SAMPLES),
        (200, "\x00\xff" * 99, Reason.NO_SAMPLES),
    ],
)
def test_a_page_that_is_none_is_one_named_failure(status: int, body: str, reason: Reason) -> None:
    responses.get(URL, body, status=status)
    with pytest.raises(SourceFailed) as failure:
        source().read(0.0)
    assert failure.value.reason is reason


@responses.activate
def test_the_token_is_read_from_its_file_each_time(tmp_path: Path) -> None:
    token = tmp_path / "token"
    one = source(token_file=str(token))
    with pytest.raises(SourceFailed) as failure:
        one.read(0.0)
    assert failure.value.reason is Reason.SECRET_UNREADABLE
    for secret in ("first", "second"):
        token.write_text(secret + "\n", encoding="utf-8")
        sent = {"Authorization": f"Bearer {secret}"}
        responses.get(URL, PAGE, match=[responses.matchers.header_matcher(sent)])
        assert one.read(0.0).values
