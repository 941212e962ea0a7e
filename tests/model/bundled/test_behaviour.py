"""Loud before each simulated fault with the right cause, quiet on each look-alike.

Loud is what the shipped rules call critical.  Seeds and parameters here were in no split of
the training run.
"""

from __future__ import annotations

import pytest

from model import runtime, schema
from model.cli import BUNDLED
from model.runtime import Predictor
from model.schema import Cause
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.factories.levels import alert_levels
from tests.model.bundled.replaying import DAY, HOUR, lead_hours, watch

CAUSES = list(schema.Cause)
STRUCK = 5


@pytest.fixture(scope="module")
def critical() -> float:
    """The level of the critical alert of one day."""
    return alert_levels()["critical"]["24h"]


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return runtime.load(BUNDLED)


def story(kind: str, hours: float, *, severity: float = 0.9) -> Scenario:
    return Scenario(
        kind=kind,
        onset_seconds=2 * HOUR,
        duration_seconds=hours * HOUR,
        severity=severity,
        shape=1.6,
        gpu=STRUCK,
        workload=Workload.TRAINING,
    )


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("thermal-interface", Cause.THERMAL),
        ("memory-storm", Cause.MEMORY),
        ("coolant-loss", Cause.FACILITY),
        ("vrm-sag", Cause.POWER),
        ("nvlink-decay", Cause.INTERCONNECT),
        ("off-bus-warned", Cause.DEVICE),
    ],
)
def test_a_fault_of_some_hours_is_foretold_with_its_cause(
    predictor: Predictor, critical: float, kind: str, cause: Cause
) -> None:
    told = watch(predictor, story(kind, 5.0), hours=7.0, seed=880_001)
    assert told.node[0, DAY] < 0.1
    assert lead_hours(told, "24h", critical) > 1.0
    # When the alert would fire: later, heat that follows from lost coolant looks like heat.
    alerted = int((told.node[:, DAY] >= critical).argmax())
    assert CAUSES[int(told.cause[alerted, :, DAY].argmax())] is cause


@pytest.mark.parametrize("kind", ["thermal-interface", "memory-storm"])
def test_the_struck_gpu_stands_out(predictor: Predictor, kind: str) -> None:
    told = watch(predictor, story(kind, 4.0), hours=6.0, seed=880_002)
    assert int(told.gpu[-1, :, DAY].argmax()) == STRUCK
    others = [gpu for gpu in range(8) if gpu != STRUCK]
    assert told.gpu[-1, others, DAY].max() < 0.1 < told.gpu[-1, STRUCK, DAY]


@pytest.mark.parametrize(
    ("kind", "hours"),
    [("power-capping", 4.0), ("driver-reload", 0.4), ("exporter-restart", 0.05)],
)
def test_a_look_alike_stays_quiet(predictor: Predictor, kind: str, hours: float) -> None:
    told = watch(predictor, story(kind, hours), hours=7.0, seed=880_003)
    assert told.node[:, DAY].max() < 0.1


@pytest.mark.parametrize("work", list(Workload))
def test_a_healthy_node_stays_quiet_whatever_it_does(predictor: Predictor, work: Workload) -> None:
    told = watch(predictor, Scenario(workload=work), hours=6.0, seed=880_004)
    assert told.node[:, DAY].max() < 0.1


def test_a_site_without_bmc_still_foresees_heat(predictor: Predictor, critical: float) -> None:
    node_level = frozenset(c.name for c in schema.CHANNELS if c.level is schema.Level.NODE)
    told = watch(
        predictor, story("thermal-interface", 5.0), hours=7.0, seed=880_005, hidden=node_level
    )
    assert lead_hours(told, "24h", critical) > 0.5


def test_the_signal_that_drove_the_score_is_named(predictor: Predictor) -> None:
    told = watch(predictor, story("memory-storm", 4.0), hours=6.0, seed=880_006)
    strongest = int(told.contribution[-1, STRUCK].argmax())
    assert schema.BY_NAME[predictor.info.names[strongest]].cause is Cause.MEMORY
