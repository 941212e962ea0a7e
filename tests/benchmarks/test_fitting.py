"""The published sizes, and detectors that tell a shift from what they were fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks import cmapss, skab  # noqa: E402
from benchmarks.tadgan import fitting, series  # noqa: E402
from benchmarks.tadgan.detector import Detector, Pca, Standard, bar  # noqa: E402
from model.training.fitting.fit import Schedule  # noqa: E402
from model.training.network.published import PublishedTadGan  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.training
SHORT = Schedule(iterations=2, batch=8, critic_steps=1, hide_ratio=0.0)


def test_the_networks_have_the_published_numbers_of_weights() -> None:
    """PyTorch's LSTM has a second bias per gate, which theirs has not."""
    tadgan = PublishedTadGan()

    def weights(name: str) -> int:
        named = getattr(tadgan, name).named_parameters()
        return sum(one.numel() for key, one in named if "bias_hh" not in key)

    sizes = [weights(name) for name in ("encoder", "generator", "critic")]
    assert sizes == [481_620, 133_787, 67_393]


def a_series() -> series.Series:
    values = np.sin(np.arange(600) / 7)
    return series.Series(series.SMAP, "x", values, np.append(values, 5.0), ((600, 600),))


def test_a_fit_is_kept_and_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    def tuned(name: str) -> fitting.Fitted:
        common = fitting.Common(tmp_path / name, fitting.Preset(SHORT, SHORT, 3))
        common.fit([a_series()])
        return common.tuned(a_series())

    torch.set_num_threads(1)
    first, again, resumed = tuned("a.pt"), tuned("b.pt"), tuned("a.pt")
    for other in (again, resumed):
        np.testing.assert_array_equal(first.test.rebuilt, other.test.rebuilt)
        np.testing.assert_array_equal(first.test.critic, other.test.critic)
    fitting.save(tmp_path / "x.npz", first)
    back = fitting.load(tmp_path / "x.npz")
    np.testing.assert_array_equal(back.test.rebuilt, first.test.rebuilt)
    assert back.trial_truth == first.trial_truth
    assert len(first.test.values) == 601


def test_a_shift_is_above_the_bar_of_both_detectors_and_more_of_the_same_is_not() -> None:
    rng = np.random.default_rng(5)
    healthy = rng.normal(0, 1, (600, 3)) * [1.0, 10.0, 0.0] + [5.0, 50.0, 7.0]
    shifted = healthy[:100] + np.array([8.0, 0.0, 0.0])
    standard = Standard.of(healthy)
    detector = Detector(3, 32, 1)
    detector.fit([standard(healthy)], Schedule(iterations=20, critic_steps=1))
    scorer = detector.freeze([standard(healthy)])
    usual = detector.score(standard(healthy), scorer)
    assert np.isnan(usual[:31]).all()
    assert (usual[31:] > bar(usual)).mean() < 0.01
    assert (detector.score(standard(shifted), scorer)[31:] > bar(usual)).all()
    pca = Pca(healthy)
    assert (pca.statistics(shifted).max(axis=0) > pca.statistics(healthy).max(axis=0)).any()


def test_a_lead_is_counted_from_the_alarm_that_lasts() -> None:
    assert cmapss.lasting(np.array([True, False, True, True])) == 2
    assert cmapss.lasting(np.array([True, False])) == 0
    assert cmapss.lasting(np.array([True, True])) == 2


def test_rates_are_over_the_judged_seconds() -> None:
    steps = skab.HEALTHY_SECONDS + 4
    anomalous = np.zeros(steps, bool)
    anomalous[-2:] = True
    score = np.zeros(steps)
    score[: skab.HEALTHY_SECONDS] = 9.0
    score[-3:-1] = 1.7
    rates = skab.by_margin([skab.Run(np.zeros((steps, 1)), anomalous)], [score])
    assert (rates[1.5].far, rates[1.5].mar) == (0.5, 0.5)
    assert (rates[2.0].far, rates[2.0].mar) == (0.0, 1.0)
