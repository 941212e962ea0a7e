"""Fits the hazard layer by the likelihood of labelled episodes, at the base rate it states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from model.training.fitting.climb import Climb
from model.training.fitting.likelihood import standardised
from model.training.fitting.straight import set_straight

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.training.fitting.climb import Search
    from model.training.fitting.likelihood import Rows
    from model.training.network.hazard import HazardLayer

    Report = Callable[[int, float], None]
    """Called with (epochs done before this one, cost on held-out rows)."""


def fit(
    layer: HazardLayer,
    train: tuple[Rows, Rows],
    held: tuple[Rows, Rows],
    *,
    search: Search,
    seed: int,
    report: Report,
) -> None:
    """Fit both heads of `layer`, each on its rows: (GPU rows, node rows).

    Each voice of a head keeps the weights of the epoch that cost least on
    held-out rows, and the mean of all voices is set straight on these.
    """
    random = torch.Generator().manual_seed(seed)
    heads = (layer.gpu, layer.node)
    for head, rows in zip(heads, train, strict=True):
        head.freeze(rows.features)
    shown = [standardised(head, rows) for head, rows in zip(heads, train, strict=True)]
    unseen = [standardised(head, rows) for head, rows in zip(heads, held, strict=True)]
    voices = []
    for number in range(layer.voices):
        voice = layer.voice()
        climbs = [
            Climb(head, layer.base_rate_log, rows, judge)
            for head, rows, judge in zip((voice.gpu, voice.node), shown, unseen, strict=True)
        ]
        for epoch in range(search.epochs):
            costs = [climb.epoch(search, random, epoch) for climb in climbs]
            report(number * search.epochs + epoch, sum(costs))
        for climb in climbs:
            climb.restore()
        voices.append(voice)
    layer.gpu.join([voice.gpu for voice in voices])
    layer.node.join([voice.node for voice in voices])
    for head, rows in zip(heads, unseen, strict=True):
        set_straight(head, layer.base_rate_log, rows)
