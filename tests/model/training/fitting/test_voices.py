"""Several voices are fitted apart, joined by their mean, and set straight on held-out rows."""

from __future__ import annotations

import pytest
import torch

from model.training.fitting.climb import Search
from model.training.fitting.likelihood import Rows, negative_log_likelihood
from model.training.fitting.straight import set_straight
from model.training.fitting.voices import fit
from model.training.network.hazard import GPU_CAUSES, NODE_CAUSES, HazardLayer, Head

FEATURES = ("critic", "score", "lost", "6h score")
INTERVALS = 4


def layer(voices: int, seed: int = 3) -> HazardLayer:
    torch.manual_seed(seed)
    return HazardLayer(FEATURES, voices=voices)


def shaken(head: Head) -> Head:
    """Give a head an opinion: fresh ones have none."""
    with torch.no_grad():
        head.out.copy_(torch.randn(head.out.shape))
        head.offset.copy_(torch.randn(head.offset.shape))
    return head


def rows(count: int, causes: int, failing: float, seed: int = 5) -> Rows:
    """Some rows, of which a share fails in the first interval, each of a cause in turn."""
    random = torch.Generator().manual_seed(seed)
    failed = torch.rand(count, generator=random) < failing
    exposure = torch.zeros((count, INTERVALS))
    exposure[~failed, 0] = 1.0
    features = torch.randn((count, len(FEATURES)), generator=random)
    return Rows(
        features + failed[:, None] * 1.5,
        exposure,
        torch.where(failed, 0, -1),
        torch.where(failed, torch.arange(count) % causes, -1),
        torch.ones(count),
    )


def test_joined_voices_say_the_mean_of_what_each_says() -> None:
    whole = layer(3)
    voices = [shaken(whole.voice().gpu) for _ in range(3)]
    whole.gpu.join(voices)
    seen = torch.randn((7, len(FEATURES)))
    with torch.no_grad():
        each = torch.stack([voice.evidence(seen) for voice in voices])
        together = whole.gpu.evidence(seen)
    assert not torch.allclose(each[0], each[1], atol=0.1)
    torch.testing.assert_close(together, each.mean(0))


def test_a_voice_has_the_constants_of_the_whole() -> None:
    whole = layer(2)
    whole.node.freeze(torch.randn((50, len(FEATURES))) * 3.0 + 1.0)
    whole.node.learned[1] = 0.0
    voice = whole.voice().node
    for constant in ("centre", "scale", "learned", "relevant", "past"):
        own = getattr(voice, constant)
        assert torch.equal(own, getattr(whole.node, constant)[: len(own)])


def test_one_error_and_a_storm_of_them_are_told_apart() -> None:
    head = layer(1).gpu
    head.scale.fill_(0.013)
    counts = torch.log1p(torch.tensor([0.0, 1.0, 10.0, 60.0]))
    seen = head.standardise(counts[:, None].repeat(1, len(FEATURES)))[:, 0]
    assert seen[0] == 0.0
    assert bool((seen.diff() > 0.3).all())
    small = torch.tensor([[0.013, -0.02, 0.005, 0.0]])
    torch.testing.assert_close(head.standardise(small), small / 0.013)


def test_what_was_said_twice_too_often_is_set_straight() -> None:
    head = layer(1).gpu
    held = rows(4_000, len(GPU_CAUSES), failing=0.1)
    base = torch.log(torch.full((6,), 0.4 / len(GPU_CAUSES) * 8))
    said, failed = _said(head, base, held), float((held.interval == 0).float().mean())
    assert said > 1.5 * failed
    set_straight(head, base, held)
    assert _said(head, base, held) == pytest.approx(failed, rel=0.05)


def test_setting_straight_costs_nothing_on_the_rows_it_is_done_on() -> None:
    head = shaken(layer(1).node)
    base = torch.log(torch.full((6,), 0.02))
    held = rows(3_000, len(NODE_CAUSES), failing=0.05)
    before = _cost(head, base, held)
    set_straight(head, base, held)
    assert _cost(head, base, held) < before


def test_a_cause_that_was_never_shown_stays_at_its_base_rate() -> None:
    whole = layer(2)
    whole.gpu.learned[0] = 0.0
    told: list[tuple[int, float]] = []
    train, held = (
        (rows(400, 3, 0.2, seed), rows(400, len(NODE_CAUSES), 0.2, seed)) for seed in (1, 2)
    )
    search = Search(epochs=3, batch=128)
    fit(whole, train, held, search=search, seed=4, report=lambda *one: told.append(one))
    assert [epoch for epoch, _ in told] == list(range(6))
    seen = whole.gpu.standardise(torch.randn((9, len(FEATURES))) * 4.0)
    with torch.no_grad():
        hazard = whole.gpu(seen, whole.base_rate_log)
    assert torch.equal(hazard[:, 0], hazard[:1, 0].expand(9, -1))
    assert not torch.allclose(hazard[:, 1], hazard[:1, 1].expand(9, -1))


def test_a_fit_comes_out_again_bit_by_bit() -> None:
    train = (rows(300, 5, 0.2), rows(300, len(NODE_CAUSES), 0.2))
    held = (rows(200, 5, 0.2, 8), rows(200, len(NODE_CAUSES), 0.2, 8))
    found = []
    for _ in range(2):
        whole = layer(2)
        search = Search(epochs=2, batch=64)
        fit(whole, train, held, search=search, seed=4, report=lambda *_: None)
        found.append(whole.state_dict())
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def _said(head: Head, base: torch.Tensor, seen: Rows) -> float:
    with torch.no_grad():
        hazard = head(seen.features, base)[:, :, 0].sum(1)
    return float((1 - torch.exp(-hazard)).mean())


def _cost(head: Head, base: torch.Tensor, seen: Rows) -> float:
    with torch.no_grad():
        return float(negative_log_likelihood(head(seen.features, base), seen).sum())
