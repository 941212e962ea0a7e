"""R38: pods make every job a new series of the same GPU."""

from __future__ import annotations

import numpy as np

from model.history.plan import discover
from model.history.question import Address, Family, Question
from model.history.reader import Reader
from model.sources import dcgm_series
from model.sources.dcgm_series import cube
from model.sources.series import Steps
from tests.model.sources.test_dcgm_series import One

DAY = Steps(0.0, 60.0, 1_440)
TEMPERATURE = "gpu_temperature_celsius"


def churned(name: str) -> list[One]:
    """Forty jobs of 36 minutes, each overlapping the next by two samples, one before a hole."""
    jobs = []
    for job in range(40):
        first, last = job * 36, min(1_440, job * 36 + (16 if job == 20 else 38))
        values = [
            (step * 60.0, "63" if step >= job * 36 + 36 else "61") for step in range(first, last)
        ]
        jobs.append(One({"__name__": name, "UUID": "A", "gpu": "0", "pod": f"p{job}"}, values))
    return jobs


def test_r38_one_row_a_minute_the_larger_at_overlaps_and_holes_stay_holes() -> None:
    rows = cube(churned("DCGM_FI_DEV_GPU_TEMP"), DAY, [TEMPERATURE]).cube.gpu["A"][:, 0]
    assert len(rows) == 1_440
    assert rows[36] == rows[37] == 63.0
    assert rows[38] == 61.0
    hole = np.flatnonzero(np.isnan(rows))
    assert (hole[0], hole[-1], len(hole)) == (736, 755, 20)


def test_r38_names_that_a_collector_changed_are_read_all_the_same() -> None:
    found = cube(churned("dcgm_fi_dev_gpu_temp"), DAY, [TEMPERATURE]).cube.gpu["A"]
    assert found[0, 0] == 61.0
    replays = One({"__name__": "dcgm_fi_dev_pcie_replay_counter_total", "UUID": "A"}, [(0.0, "7")])
    assert cube([replays], DAY, ["gpu_pcie_replays_total"]).cube.gpu["A"][0, 0] == 7.0


def test_r38_the_server_folds_the_pods_before_it_answers() -> None:
    question = Question(family=Family.DCGM, labels=("Hostname",))
    asked = question.query([Address("Hostname", "n1")], [TEMPERATURE])
    assert asked.startswith("max by (")
    for label in ("pod", "namespace", "container", "job", "instance"):
        assert label not in dcgm_series.KEPT
    assert 'Hostname="n1"' in asked


def test_r38_two_spellings_of_the_label_are_two_ways_to_one_node() -> None:
    class Server:
        def query_range(self, query, over):
            label = "Hostname" if "(Hostname" in query else "hostname"
            return [One({label: "n1", "modelName": "H100"}, [(0.0, "8")])]

    reader = Reader(Server(), lambda _: None)
    (node,) = discover(reader, Question(Family.DCGM, ("Hostname", "hostname")), 0, 60)
    assert node.addresses == (Address("Hostname", "n1"), Address("hostname", "n1"))
    assert node.types == ("H100",)
