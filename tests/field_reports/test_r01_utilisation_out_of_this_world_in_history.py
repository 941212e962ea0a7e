"""R01, in history: training reads impossible numbers as the exporter does."""

from __future__ import annotations

import numpy as np
import pytest

from model.sources import dcgm_series, series
from model.sources.series import Steps
from tests.model.sources.test_dcgm_series import One

NAMES = ["gpu_sm_active_ratio", "gpu_utilization_ratio"]
HOUR = Steps(0.0, 60.0, 60)
WILD = {20: ("1.37", "137211"), 30: ("1.0004", "4294967295")}


def told(name: str, usual: str, column: int) -> One:
    values = [(60.0 * step, WILD[step][column] if step in WILD else usual) for step in range(60)]
    return One({"__name__": name, "node": "n1", "UUID": "A", "uuid": "A", "gpu": "0"}, values)


def test_r01_dcgms_own_history_is_missing_where_it_is_impossible_and_nowhere_else() -> None:
    past = [told("DCGM_FI_PROF_SM_ACTIVE", "0.9", 0), told("DCGM_FI_DEV_GPU_UTIL", "97", 1)]
    rows = dcgm_series.cube(past, HOUR, NAMES).cube.gpu["A"]
    assert np.flatnonzero(np.isnan(rows[:, 0])).tolist() == [20]
    assert np.flatnonzero(np.isnan(rows[:, 1])).tolist() == [20, 30]
    assert rows[30, 0] == pytest.approx(1.0, abs=1e-3)
    assert rows[31, 1] == pytest.approx(0.97)


def test_r01_so_is_the_history_of_our_own_pages() -> None:
    past = [
        told("forewarn_gpu_sm_active_ratio", "0.9", 0),
        told("forewarn_gpu_utilization_ratio", "0.97", 1),
    ]
    rows = series.cube(past, HOUR, NAMES).gpu["A"]
    assert np.isnan(rows[[20, 30], 1]).all()
    assert np.isnan(rows[20, 0])
    assert np.isnan(rows).sum() <= 4
