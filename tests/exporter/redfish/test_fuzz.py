"""Mutated real bodies: a reader that raises anything but `SourceFailed` is defective."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.readings import Missing, Reason, SourceFailed
from exporter.redfish.interpret import Interpreter
from exporter.redfish.plan import Plan, build
from exporter.redfish.resources import Kind, decode
from exporter.redfish.samples import Sample
from exporter.redfish.transport import ResourceFailed
from exporter.redfish.walk import Walk
from model.schema import BY_NAME
from model.sources import redfish as spell
from tests.exporter.redfish.fake_bmc import recorded
from tests.exporter.redfish.small_tree import expandable, small_tree, with_detectors, with_sensors

JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 10**400, math.nan, math.inf, "", "N/A", "nan", "Absent", "é\x00", [], {},
    [None], [[]], ["x"], {"@odata.id": 5}, {"@odata.id": "//x/y"}, {"Reading": []}, {"State": {}},
    "2021-99-99T00:00:00Z", "/redfish/v1", "?$skip=1", [{"@odata.id": "/redfish/v1/Chassis"}],
)  # fmt: skip
RELAXED = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
DOCUMENTS = {
    Kind.THERMAL: "dell-idrac9-a/redfish/v1/Chassis/System.Embedded.1/Thermal",
    Kind.POWER: "hpe-ilo6-dl380a-gen11/redfish/v1/Chassis/1/Power",
    Kind.REPORT: "nvidia-gh200/redfish/v1/TelemetryService/MetricReports/"
    "HGX_PlatformEnvironmentMetrics_0",
    Kind.THERMAL_METRICS: "dmtf-public-rackmount1/redfish/v1/Chassis/1U/ThermalSubsystem/"
    "ThermalMetrics",
    Kind.ENVIRONMENT: "dmtf-public-rackmount1/redfish/v1/Chassis/1U/EnvironmentMetrics",
    Kind.SENSOR: "nvidia-gh200/redfish/v1/Chassis/BMC_0/Sensors/FAN_1_F",
    Kind.FAN: "ocp-cdu/redfish/v1/Chassis/1/ThermalSubsystem/Fans/1",
    Kind.PUMP: "ocp-cdu/redfish/v1/ThermalEquipment/CDUs/1/Pumps/1",
    Kind.SUPPLY_METRICS: "dmtf-public-rackmount1/redfish/v1/Chassis/1U/PowerSubsystem/"
    "PowerSupplies/Bay1/Metrics",
    Kind.PROCESSOR: "nvidia-gh200/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0",
    Kind.SUPPLY: "dmtf-public-rackmount1/redfish/v1/Chassis/1U/PowerSubsystem/PowerSupplies/Bay1",
    Kind.LEAK: "ocp-cdu/redfish/v1/ThermalEquipment/CDUs/1/LeakDetection/LeakDetectors/Moisture",
    Kind.CONNECTOR: "ocp-cdu/redfish/v1/ThermalEquipment/CDUs/1/SecondaryCoolantConnectors/1",
}


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield container and key of every value in a document."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield node, key
        if isinstance(value, dict | list):
            yield from places(value)


def mutate(document: Any, random: Random, times: int) -> Any:
    """Put junk, or another part of the document itself, in some places."""
    mutant = copy.deepcopy(document)
    for _ in range(times):
        spots = list(places(mutant))
        if not spots:
            break
        container, key = random.choice(spots)
        container[key] = copy.deepcopy(random.choice(JUNK))
    return mutant


def judged(plan: Plan, samples: list[Sample]) -> None:
    values, missing = Interpreter().channels(
        plan, {sample.key: sample for sample in samples}, beside=samples
    )
    assert values.keys() | missing.keys() == {(channel, None) for channel in spell.CHANNELS}
    assert not values.keys() & missing.keys()
    assert all(BY_NAME[place.channel].plausible(value) for place, value in values.items())
    assert all(isinstance(kind, Missing) for kind in missing.values())


@pytest.mark.parametrize("kind", DOCUMENTS)
@RELAXED
@given(seed=st.integers(0, 2**32), times=st.integers(1, 12))
def test_a_decoder_takes_any_object(shared_data: Path, kind: Kind, seed: int, times: int) -> None:
    tree, _, uri = DOCUMENTS[kind].partition("/")
    document = _loaded(shared_data / "redfish" / tree)["/" + uri]
    mutant = mutate(document, Random(seed), times)
    for sample in decode(kind, "/" + uri, mutant, stale_after=180):
        assert (sample.value is None) != (sample.missing is None)
        assert sample.value is None or math.isfinite(sample.value)


@RELAXED
@given(seed=st.integers(0, 2**32), times=st.integers(1, 20))
def test_a_walk_over_a_damaged_tree_ends_in_a_plan_or_a_named_failure(
    seed: int, times: int
) -> None:
    dry = {"DetectorState": "OK", "Status": {"State": "Enabled", "Health": "OK"}}
    tree = expandable(with_detectors(small_tree(), dry, dry))
    older = copy.deepcopy(tree["/redfish/v1/Chassis/1"])
    celsius = {"Reading": 31, "ReadingUnits": "Cel", "PhysicalContext": "LiquidInlet"}
    tree = with_sensors(tree, CoolantA=celsius, Fan9={"Reading": 900, "ReadingUnits": "RPM"})
    tree["/redfish/v1/Chassis/1"] |= older
    mutant = mutate(tree, Random(seed), times)

    def get(uri: str) -> dict[str, Any]:
        document = mutant.get(uri)
        if not isinstance(document, dict):
            raise ResourceFailed(Reason.NOT_FOUND, uri)
        return document

    steps = Walk(get).run()
    try:
        for _ in range(5_000):
            next(steps)
        pytest.fail("the walk does not end")
    except SourceFailed as failure:
        assert failure.detail
    except StopIteration as end:
        found = end.value.findings
        plan = build(found, system="", several_nodes=False, before=Plan())
        judged(plan, [finding.sample for finding in found])


_trees: dict[Path, dict[str, Any]] = {}


def _loaded(folder: Path) -> dict[str, Any]:
    if folder not in _trees:
        _trees[folder] = recorded(folder)
    return _trees[folder]
