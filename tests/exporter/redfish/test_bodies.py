"""Arbitrary bytes, and bodies cut and mangled on the wire: no exception, no invented number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.redfish.resources import Kind, decode
from exporter.redfish.samples import objects
from exporter.redfish.transport import Answer, ResourceFailed
from exporter.redfish.transport import decode as parse
from tests.exporter.redfish.small_tree import OK

RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=True, allow_infinity=True),
    st.none(),
    st.booleans(),
    st.text(max_size=6),
    st.integers(0, 999).map(str),
)


def thermal(readings: list[Any], name: str) -> dict[str, Any]:
    members = [
        {"Name": f"{name} {i}", "ReadingCelsius": r, "Status": OK} for i, r in enumerate(readings)
    ]
    return {"@odata.id": "/t", "Temperatures": members}


def sensor(readings: list[Any], name: str) -> dict[str, Any]:
    reading = readings[0] if readings else None
    return {"@odata.id": "/s", "Name": name, "Reading": reading, "ReadingUnits": "Cel"}


def report(readings: list[Any], name: str) -> dict[str, Any]:
    values = [
        {"MetricProperty": f"/redfish/v1/Chassis/c/Sensors/{name}_{i}_Temp", "MetricValue": r}
        for i, r in enumerate(readings)
    ]
    return {"@odata.id": "/r", "MetricValues": values}


def as_float(raw: Any) -> float | None:
    try:
        return None if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError, OverflowError):
        return None


@RELAXED
@given(st.binary(max_size=400))
def test_any_bytes_are_an_object_or_a_named_failure(body: bytes) -> None:
    try:
        document = parse(Answer(200, {}, body), "/x")
    except ResourceFailed as failure:
        assert failure.detail
        return
    for kind in Kind:
        decode(kind, "/x", document, stale_after=180)


@RELAXED
@given(st.integers(0, 2000), st.binary(max_size=8))
def test_a_real_body_cut_and_mangled_is_read_or_refused(at: int, junk: bytes) -> None:
    body = json.dumps(thermal([21, 22.5, None], "Inlet") | report([1, 2], "Inlet")).encode()
    mangled = body[:at] + junk + body[at + len(junk) :]
    try:
        document = parse(Answer(200, {}, mangled), "/x")
    except ResourceFailed:
        return
    for kind in Kind:
        decode(kind, "/x", document, stale_after=180)


@pytest.mark.parametrize(
    ("kind", "make"), [(Kind.THERMAL, thermal), (Kind.SENSOR, sensor), (Kind.REPORT, report)]
)
@RELAXED
@given(readings=st.lists(NUMBERS, max_size=6), name=st.sampled_from(["Inlet", "CPU1", "Fan"]))
def test_every_number_that_comes_out_went_in(kind: Kind, make, readings, name: str) -> None:
    document = make(readings, name)
    went_in = {as_float(reading) for reading in readings}
    samples = decode(kind, "/x", document, stale_after=180)
    assert {sample.value for sample in samples if sample.value is not None} <= went_in
    assert len(samples) <= max(1, sum(1 for _ in objects(document, "Temperatures")), len(readings))


@pytest.mark.parametrize("text", ["0\x1f", "1_0", "\u0661", "0x10", ""])
def test_only_a_plain_numeral_is_a_number(text: str) -> None:
    samples = decode(Kind.THERMAL, "/x", thermal([text], "Inlet"), stale_after=180)
    assert [sample.value for sample in samples] == [None]
