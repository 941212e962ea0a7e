"""A record holds what the exporter's window held, and nothing that two sources made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from model.history.access import Server
from model.history.chunks import Chunks, Wanted
from model.history.question import Question
from model.history.record import Record, assemble
from model.sources.dcgm_series import Told, unchanged
from model.sources.series import Cube, Steps
from tests.factories.history import START

NAMES = ("gpu_temperature_celsius", "gpu_energy_joules_total", "gpu_xid_code", "node_power_watts")


class Memory(Chunks):
    """Chunks that never were on disk."""

    def __init__(self, gpus: dict[str, np.ndarray], node: np.ndarray) -> None:
        steps = len(node)
        wanted = Wanted(Question(), NAMES, START, START + steps * 60, Server("http://a:9090"))
        super().__init__(Path(), wanted, None)
        over = Steps(START, 60, steps)
        index = {uuid: str(place) for place, uuid in enumerate(gpus)}
        self.told = [(over, Told(Cube(gpus, node, index), unchanged(over)))]

    def load(self, node, first, last):
        return iter(self.told)


def seen(steps: int, gpus: dict[str, np.ndarray]) -> Record:
    node = np.full((steps, len(NAMES)), np.nan)
    node[:, 3] = 5_000.0
    return assemble(Memory(gpus, node), "n1", NAMES, START, START + steps * 60)


def healthy(steps: int) -> np.ndarray:
    out = np.full((steps, len(NAMES)), np.nan)
    out[:, 0], out[:, 1] = 50.0, 1e9 + np.arange(steps) * 24_000.0
    return out


def test_a_lost_gpu_is_a_row_of_nan_with_the_nodes_channels_and_is_not_present() -> None:
    gone = healthy(100)
    gone[60:] = np.nan
    gone[60:, 2] = 79.0
    one = seen(100, {"A": healthy(100), "B": gone})
    assert not one.present[1, 60:].any()
    assert np.isnan(one.channel("node_power_watts")[1, 60:]).all()
    assert (one.channel("node_power_watts")[0] == 5_000.0).all()
    assert one.channel("gpu_xid_code")[1, 70] == 79.0


def test_while_no_gpu_reports_the_node_is_all_that_is_known() -> None:
    silent = healthy(100)
    silent[50:] = np.nan
    one = seen(100, {"A": silent})
    assert (one.channel("node_power_watts")[0, 50:] == 5_000.0).all()


def test_a_day_of_downsampled_blocks_is_left_out_and_counted() -> None:
    coarse = healthy(1_440)
    coarse[np.arange(1_440) % 5 != 0] = np.nan
    one = seen(1_440, {"A": coarse})
    assert one.lost.coarse.all()
    assert not one.present.any()


def test_scrapes_that_fail_now_and_then_do_not_make_a_day_coarse() -> None:
    holes = healthy(1_440)
    holes[np.random.default_rng(1).random(1_440) < 0.1] = np.nan
    assert not seen(1_440, {"A": holes}).lost.coarse.any()
