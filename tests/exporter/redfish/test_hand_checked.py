"""What was looked up by eye in a tree is what the reader says, and the tree still says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exporter.readings import Place
from model.sources import redfish as spell
from tests.exporter.redfish.fake_bmc import recorded
from tests.exporter.redfish.hand_checked import BY_HAND, NODES, Hand
from tests.exporter.redfish.test_trees import rotated, tree

if TYPE_CHECKING:
    from pathlib import Path


def said(documents: dict[str, Any], at: str) -> float:
    """Return the number that stands at a place of a tree."""
    uri, _, pointer = at.partition("#")
    found: Any = documents[f"/redfish/v1/{uri}"]
    for step in pointer.split("/"):
        found = found[int(step)] if isinstance(found, list) else found[step]
    return float(found)


def is_right(row: Hand, values: dict[str, float], documents: dict[str, Any]) -> bool:
    wanted = pytest.approx(row.value, rel=1e-6)
    return said(documents, row.at) == wanted and values.get(row.channel) == wanted


def wrong(name: str, values: dict[str, float], documents: dict[str, Any]) -> list[Hand]:
    return [row for row in BY_HAND[name] if not is_right(row, values, documents)]


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_a_value_found_by_hand_is_the_readers(shared_data: Path, name: str) -> None:
    folder = tree(shared_data, name)
    last = rotated(folder, NODES.get(name, "")).last
    values = {place.channel: value for place, value in last.values.items()}
    assert wrong(name, values, recorded(folder)) == []


def test_an_x10_that_is_off_gives_no_reading_and_says_why(shared_data: Path) -> None:
    """All of its sensors are `Absent` with 0, and its meter reads 0 W."""
    last = rotated(tree(shared_data, "supermicro-x10")).last
    assert {p.channel for p in last.values} == {
        spell.PROCESSORS_FAILED,
        "node_processors_warning",
    }
    kinds = {channel: str(last.missing[Place(channel)]) for channel in (spell.INLET, spell.POWER)}
    assert kinds == {spell.INLET: "sensor_absent", spell.POWER: "zero_means_none"}


def test_there_are_five_by_hand_for_each_vendor() -> None:
    vendors: dict[str, int] = {}
    for name, rows in BY_HAND.items():
        vendor = name.partition("-")[0]
        vendors[vendor] = vendors.get(vendor, 0) + len({row.channel for row in rows})
    assert {vendor for vendor, rows in vendors.items() if rows >= 5} >= {
        "dell",
        "dmtf",
        "hpe",
        "nvidia",
    }
