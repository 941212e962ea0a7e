"""The published sizes, and detectors that tell a shift from what they were fitted on."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks import cmapss, skab  # noqa: E402
from benchmarks.tadgan import errors, fitting, looking, series, stages  # noqa: E402
from benchmarks.tadgan.detector import Detector, Pca, Standard, bar  # noqa: E402
from benchmarks.tadgan.stages import Stages  # noqa: E402
from model.training.fitting.fit import Schedule  # noqa: E402
from model.training.network.published import PublishedTadGan  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.training
SHORT = Stages(rebuilding=2, rebuilding_rate=1e-3, game=1)


def test_the_networks_have_the_published_numbers_of_weights() -> None:
    """PyTorch's LSTM has a second bias per gate, which theirs has not."""
    tadgan = PublishedTadGan()

    def weights(name: str) -> int:
        named = getattr(tadgan, name).named_parameters()
        return sum(one.numel() for key, one in named if "bias_hh" not in key)

    sizes = [weights(name) for name in ("encoder", "generator", "critic")]
    assert sizes == [481_620, 133_787, 67_393]


def a_series() -> series.Series:
    values = np.sin(np.arange(900) / 7)
    return series.Series(series.SMAP, "x", values, np.append(values, 5.0), ((900, 900),))


def test_a_fit_is_kept_and_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    def tuned(name: str) -> fitting.Fitted:
        common = fitting.Common(tmp_path / name, fitting.Preset(SHORT, SHORT, 3))
        common.fit([a_series()])
        return common.tuned(a_series())

    torch.set_num_threads(1)
    fits = [tuned("a.pt"), tuned("b.pt"), tuned("a.pt")]
    fitting.save(tmp_path / "x.pt", fits[0])
    fits.append(fitting.load(tmp_path / "x.pt"))
    values = a_series().test[:300].astype(np.float32)
    first, *others = looking.look([one.tadgan for one in fits], values).views
    for other in others:
        np.testing.assert_array_equal(first.rebuilt, other.rebuilt)
        np.testing.assert_array_equal(first.critic, other.critic)
    assert fits[-1].fit_seconds == fits[0].fit_seconds


def test_each_fit_of_a_series_is_a_draw_of_its_own_and_is_kept(tmp_path: Path) -> None:
    members = fitting.Members(tmp_path, fitting.Preset(SHORT, SHORT, 3))
    members.fit([a_series()])
    first, again = members.kept(a_series()), members.kept(a_series())
    weights = {float(one.tadgan.encoder.latent.bias.detach().sum()) for one in first}
    assert len(weights) == len(first) == fitting.MEMBERS
    assert [one.fit_seconds for one in again] == [one.fit_seconds for one in first]
    assert members.common_cpu_seconds > 0.0


def test_made_up_anomalies_are_looked_at_where_they_are() -> None:
    members = [PublishedTadGan().eval(), PublishedTadGan().eval()]
    looks = looking.looks(a_series(), members)
    assert len(looks.test.values) == 901
    for _, look, (first, last) in islice(looking.spoilt(a_series(), members, looks.train, 3), 4):
        assert first >= fitting.held_from(a_series()) == 675
        assert (look.values != looks.train.values).any()
        assert last < len(look.values)
        whole = looking.look(members, look.values)
        for view, seen, other in zip(look.views, look.seen, whole.views, strict=True):
            np.testing.assert_allclose(view.rebuilt, other.rebuilt, atol=1e-5)
            np.testing.assert_allclose(view.critic, other.critic, atol=1e-5)
            np.testing.assert_array_equal(seen.guess, errors.rebuilt(view))
            np.testing.assert_array_equal(seen.critic, errors.critic(view))


def test_a_part_that_is_judged_itself_is_fitted_whole() -> None:
    values = a_series().train
    assert fitting.held_from(series.Series("realTraffic", "x", values, values, ())) == 0


def test_rebuilding_lowers_the_error_and_whitening_changes_no_reconstruction() -> None:
    torch.manual_seed(1)
    tadgan = PublishedTadGan()
    rows = fitting.windows(a_series().train.astype(np.float32))

    def guess() -> torch.Tensor:
        with torch.no_grad():
            return torch.as_tensor(tadgan.eval()(rows, torch.ones_like(rows))[0])

    before = guess()
    stages.rebuild(tadgan, rows, Stages(rebuilding=30, rebuilding_rate=2e-3, game=0), 1)
    after = guess()
    assert ((after - rows) ** 2).mean() < 0.8 * ((before - rows) ** 2).mean()
    stages.whiten(tadgan, rows)
    torch.testing.assert_close(guess(), after, atol=1e-3, rtol=0.0)
    with torch.no_grad():
        latents = tadgan.encoder(rows, rows)
    assert latents.mean(0).abs().max() < 1e-2
    assert (torch.cov(latents.T).diagonal() < 1.01).all()


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
