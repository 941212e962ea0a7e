"""R07: what a new monitor changes on every board is a border of the past, nothing to learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the train extra")

import torch

from model.history.access import Server
from model.history.plan import Plan, PlannedNode
from model.history.question import Address, Question
from model.history.reader import connect
from model.history.regimes import regimes
from model.history.timeline import Timeline
from model.schema import STEP_SECONDS, WINDOW_STEPS
from model.training.episodes.plan import Split
from model.training.network.scaling import Scaling
from model.training.site.campaign import Campaign, Folders
from model.training.site.past import SiteStock
from simulator.faults import STORIES
from simulator.history import Recording, record_all
from simulator.instruments.shown import SHOWN
from simulator.physics.workload import Workload
from simulator.scenario import Scenario
from tests.factories.history import START, SimulatedSite, as_record
from tests.factories.prometheus import FakePrometheus

pytestmark = pytest.mark.training
HOUR = 3_600.0
HOURS = 96
UPGRADED = 20 * HOUR
UPGRADE = Scenario(
    "monitor-upgrade",
    onset_seconds=UPGRADED,
    duration_seconds=HOURS * HOUR,
    severity=0.9,
    workload=Workload.IDLE,
)
POWER = SHOWN.index("gpu_power_watts")


@pytest.fixture(scope="module")
def server() -> Iterator[FakePrometheus]:
    fake = FakePrometheus(answer=SimulatedSite([Recording(UPGRADE, "n1", 7)], HOURS * 60))
    yield fake
    fake.close()


@pytest.fixture(scope="module")
def campaign(server: FakePrometheus, tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("site")
    plan = Plan(
        server=Server(server.url),
        question=Question(),
        start=START,
        end=START + HOURS * 60 * STEP_SECONDS,
        nodes=(PlannedNode("n1", (Address("node", "n1"),), ()),),
        fleet=("n1",),
        shards=1,
        seed=7,
        simulate="none",
    )
    folders = Folders(folder / "work", folder / "models")
    return Campaign(plan, folders, connect(plan.server), lambda *_: None)


@pytest.fixture(scope="module")
def timeline(campaign: Campaign) -> Timeline:
    return campaign.survey(campaign.chunks(SHOWN), campaign.plan.node("n1"))


def scale(stock: SiteStock) -> tuple[float, float]:
    """Return centre and scale of power, as training freezes them on quiet windows."""
    scaling = Scaling(SHOWN)
    parts = []
    for whole in stock.episodes(quiet=True):
        moments = np.arange(WINDOW_STEPS, len(whole.hours), 60)
        parts.append(torch.from_numpy(whole.windows(moments, WINDOW_STEPS)))
    scaling.freeze(torch.cat(parts).flatten(0, 1))
    return float(scaling.centre[POWER]), float(scaling.scale[POWER])


def test_r07_the_step_is_a_border_and_no_failure(timeline: Timeline) -> None:
    (regime,) = timeline.regimes
    assert regime.start == pytest.approx(START + UPGRADED, abs=180)
    assert regime.watts == pytest.approx(50.0, abs=5.0)
    assert timeline.failures == ()
    assert timeline.hours == HOURS, "who is watched lives through it"


def test_r07_no_window_of_training_spans_it(campaign: Campaign, timeline: Timeline) -> None:
    (regime,) = timeline.regimes
    for split, stock in campaign.stocks(campaign.chunks(SHOWN), [timeline], SHOWN).items():
        across = [one for one in stock.parts if one.stretch.start < regime.start < one.stretch.end]
        assert not across, split


def test_r07_two_levels_are_not_averaged_into_one_scale(
    campaign: Campaign, timeline: Timeline
) -> None:
    chunks = campaign.chunks(SHOWN)
    fit = campaign.stocks(chunks, [timeline], SHOWN)[Split.FIT]
    centre, spread = scale(fit)
    both, wide = scale(SiteStock(chunks, [timeline], SHOWN, fit.span))
    assert wide > 2 * spread, "as one, both levels would be usual, and neither known"
    assert centre > both + 10.0
    assert spread == 10.0, "the floor: rest is a level"


@pytest.mark.parametrize("workload", [Workload.IDLE, Workload.MIXED])
def test_r07_no_other_story_is_taken_for_it(workload: Workload) -> None:
    def story(kind: str) -> Scenario:
        lasts = 8 * HOUR if kind != UPGRADE.kind else UPGRADE.duration_seconds
        return Scenario(kind, 12 * HOUR, lasts, severity=0.95, workload=workload)

    plan = [Recording(story(kind), kind, place) for place, kind in enumerate(sorted(STORIES))]
    histories = record_all(plan, steps=2 * 1_440, gpus=2)
    assert [one.node for one in histories if regimes(as_record(one))] == [UPGRADE.kind]
