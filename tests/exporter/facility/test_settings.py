"""Settings of the facility exporter: what is impossible is refused with what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.settings import SettingsError, load, parse
from exporter.facility.settings import FacilitySettings, Target

EXAMPLE = Path(__file__).resolve().parents[3] / "deploy" / "config" / "facility.example.yml"
PDU = "{equipment: a, url: https://a.example}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("targets: [{url: https://a.example}]", "expected equipment"),
        ("targets: [{equipment: a}]", "a: expected url"),
        (f"targets: [{PDU}, {PDU}]", "each equipment once, not 'a' twice"),
        ("targets: [{equipment: a, url: https://a.example/redfish}]", "without a path"),
        ("targets: [{equipment: a, url: https://u:p@a.example}]", "they live in files"),
        (
            "{targets: [{equipment: a, url: https://a.example, racks: [r2]}], racks: {r1: [n1]}}",
            "a: rack 'r2' is not defined, expected one of r1 or a key 'r2' in `racks`",
        ),
        (
            "targets: [{equipment: a, url: https://a.example, racks: [r1]}]",
            "a: rack 'r1' is not defined, expected no rack or a key 'r1'",
        ),
        ("racks: {r1: [n1], r2: ['n[1-2]']}", "n1 is in 'r1' and in 'r2'"),
        ("racks: {r1: ['n[3-1]']}", "ascending range"),
        ("nodes: []", "nodes"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected) as error:
        parse(text, FacilitySettings, origin="facility.yml")
    assert "\n" not in str(error.value)


def test_nodes_are_found_by_rack() -> None:
    text = "racks: {r1: ['gpu-[01-02]', odd], r2: [gpu-03]}"
    settings = parse(text, FacilitySettings, origin="facility.yml")
    assert settings.rack_of() == {"gpu-01": "r1", "gpu-02": "r1", "odd": "r1", "gpu-03": "r2"}


def test_the_example_documents_every_key_with_its_default() -> None:
    settings = load(EXAMPLE, FacilitySettings)
    first = settings.targets[0]
    default = Target(equipment=first.equipment, url=first.url, racks=first.racks)
    assert first == default
    written = EXAMPLE.read_text(encoding="utf-8")
    for key in (*Target.__struct_fields__, *FacilitySettings.__struct_fields__):
        assert f"{key}:" in written, key
    assert settings.listen == FacilitySettings().listen
    assert settings.breaker == FacilitySettings().breaker
