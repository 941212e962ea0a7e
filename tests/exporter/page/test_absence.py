"""A GPU given away and a GPU that fell off look alike; what else speaks decides."""

from __future__ import annotations

import pytest

from exporter.page import absence
from exporter.page.absence import Witness
from exporter.readings import Departure, LeftAfter, Place, SourceName, SourceReadings
from exporter.window import snapshot
from tests.factories.sources import A, B, dcgm, gpus, up

PLANNED = Departure(B, LeftAfter.RELOAD, busy=False, hardware_xid=False)


def taken(left: Departure | None, in_bmc: float | None) -> snapshot.NodeSnapshot:
    departures = () if left is None else (left,)
    statuses = [up(dcgm({A: 61}, departures=departures), 1_000.0)]
    if in_bmc is not None:
        values = {Place("node_gpus_in_bmc"): in_bmc}
        statuses.append(up(SourceReadings(SourceName.REDFISH, values=values), 1_000.0, 60.0))
    return snapshot.take(statuses, 1_000.0, expected=gpus(A, B), expected_count=2)


@pytest.mark.parametrize(
    ("after", "busy", "xid", "in_bmc", "alarming"),
    [
        (LeftAfter.RELOAD, False, False, None, 0),
        (LeftAfter.RELOAD, False, False, 2, 0),
        (LeftAfter.RUNNING, False, False, 2, 0),
        (LeftAfter.RUNNING, False, False, None, 1),
        (LeftAfter.GAP, False, False, None, 1),
        (LeftAfter.RELOAD, True, False, 2, 1),
        (LeftAfter.RELOAD, False, True, 2, 1),
        (LeftAfter.RELOAD, False, False, 1, 1),
    ],
)
def test_only_a_quiet_departure_that_somebody_accounts_for_is_explained(
    after: LeftAfter, busy: bool, xid: bool, in_bmc: float | None, alarming: int
) -> None:
    assert absence.unexplained(taken(Departure(B, after, busy, xid), in_bmc)) == alarming


def test_a_gpu_of_which_nobody_saw_how_it_left_is_unexplained() -> None:
    assert absence.unexplained(taken(None, 2)) == 1


def test_nothing_is_counted_while_gpus_cannot_be() -> None:
    nobody = snapshot.take([], 1_000.0, expected=gpus(A, B), expected_count=2)
    assert absence.unexplained(nobody) is None


def test_a_gpu_that_need_not_report_has_not_left() -> None:
    status = up(dcgm({A: 61}, departures=(PLANNED,)), 1_000.0)
    away = snapshot.take([status], 1_000.0, expected=gpus(A), expected_count=1)
    assert away.departures == ()
    assert absence.unexplained(away) == 0


def test_it_is_said_for_a_person() -> None:
    assert absence.sentence(PLANNED, Witness.SEEN) == (
        "left after a device list reload, was idle, the BMC sees all GPUs"
    )
    lost = Departure(B, LeftAfter.RUNNING, busy=True, hardware_xid=True)
    assert absence.sentence(lost, Witness.NOT_SEEN) == (
        "left between two pages, was at work, with a hardware XID, the BMC misses it too"
    )
