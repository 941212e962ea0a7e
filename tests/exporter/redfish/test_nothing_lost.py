"""What a few requests a cycle deliver, against reading every document of the same tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exporter.redfish import tree as trees
from exporter.redfish.interpret import Interpreter
from exporter.redfish.plan import Finding, Plan, Resource, Rung, build
from exporter.redfish.resources import Kind, decode
from exporter.redfish.samples import Sample, text
from model.sources import redfish as spell
from model.sources import redfish_names as names
from tests.exporter.redfish.fake_bmc import recorded
from tests.exporter.redfish.test_trees import BUDGET, rotated, tree

KINDS = {
    "Sensor": Kind.SENSOR,
    "Thermal": Kind.THERMAL,
    "Power": Kind.POWER,
    "ThermalMetrics": Kind.THERMAL_METRICS,
    "EnvironmentMetrics": Kind.ENVIRONMENT,
    "Fan": Kind.FAN,
    "Pump": Kind.PUMP,
    "PowerSupply": Kind.SUPPLY,
    "PowerSupplyMetrics": Kind.SUPPLY_METRICS,
    "LeakDetector": Kind.LEAK,
    "CoolantConnector": Kind.CONNECTOR,
    "Processor": Kind.PROCESSOR,
}
NODES = {"cray-ex235n-a100": "Node0"}
"""Where one BMC serves several nodes: the one that is looked at."""


def of_the_node(uri: str, kind: Kind, chassis: str) -> bool:
    """Leave out what is a neighbour's or a part's: a GPU's energy is not the node's."""
    _, _, rest = uri.partition("/Chassis/")
    owner = rest.partition("/")[0]
    if chassis and owner.startswith("Node") and owner != chassis:
        return False
    if spell.PART_CHASSIS.search(owner):
        return False
    return kind is not Kind.ENVIRONMENT or (bool(owner) and not trees.is_baseboard({"Id": owner}))


def full_walk(folder: Path, chassis: str) -> set[str]:
    """Read every document of a tree, and return the channels that have a value then."""
    findings: list[Finding] = []
    for uri, document in recorded(folder).items():
        kind = KINDS.get(text(document, "@odata.type").lstrip("#").partition(".")[0])
        if kind is not None and of_the_node(uri, kind, chassis):
            findings += found(uri, kind, document)
    plan = build(findings, system="", several_nodes=False, before=Plan())
    samples = {finding.sample.key: finding.sample for finding in reversed(findings)}
    values, _ = Interpreter().channels(plan, samples, beside=samples.values())
    return {place.channel for place in values}


def found(uri: str, kind: Kind, document: dict[str, Any]) -> list[Finding]:
    resource = Resource(uri, kind, Rung.SENSORS_SINGLE)
    samples: list[Sample] = decode(kind, uri, document, stale_after=float("inf"))
    spelt: list[Finding] = []
    for sample in samples:
        if sample.channel:
            known = sample.channel, sample.rank, spell.RULES[sample.channel]
        else:
            named = names.spelling_of(sample.quantity, sample.context, *sample.names)
            if named is None:
                continue
            known = named
        spelt.append(Finding(resource, sample, *known))
    return spelt


@pytest.mark.parametrize("name", sorted(BUDGET.keys() - {"openbmc-stock"}))
def test_no_channel_is_lost_against_a_full_walk(shared_data: Path, name: str) -> None:
    folder, chassis = tree(shared_data, name), NODES.get(name, "")
    delivered = {place.channel for place in rotated(folder, chassis).last.values}
    assert full_walk(folder, chassis) <= delivered
