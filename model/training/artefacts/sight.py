"""Which inputs a model has never seen: a site may show its training less than its nodes later do.

The scaling of such a channel was never set, so that any reading would be
taken for strange.  The artefact names them, and the runtime hides them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import torch

from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from model.artefact import ArtefactInfo
    from model.training.network.scaling import Scaling


SHOWN_ONCE_THERE_IS_ONE = frozenset({dcgm.LATCHED, *dcgm.EVENTS.values()})
"""Healthy nodes that never showed it have told all the same: there was none."""


def unseen(scaling: Scaling) -> tuple[str, ...]:
    """Return the channels whose constants are those that no reading has touched.

    No spread is 1 where the mean is 0 by itself: a resting channel has its floor,
    which differs from 1 but for temperatures, and none of these rests at 0.
    """
    constants = zip(scaling.names, scaling.centre.tolist(), scaling.scale.tolist(), strict=True)
    untouched = (name for name, centre, scale in constants if (centre, scale) == (0.0, 1.0))
    return tuple(name for name in untouched if name not in SHOWN_ONCE_THERE_IS_ONE)


def still(scaling: Scaling) -> tuple[str, ...]:
    """Return the channels that training saw, and saw move by no more than one step of a sensor."""
    blind = unseen(scaling)
    rests = zip(scaling.names, (scaling.scale <= scaling.floor).tolist(), strict=True)
    return tuple(name for name, resting in rests if resting and name not in blind)


def resting(windows: Tensor, names: Sequence[str]) -> tuple[str, ...]:
    """Return the channels that have one and the same value in all windows [..., channel]."""
    rows = windows.flatten(0, -2)
    seen = ~rows.isnan()
    low = rows.nan_to_num(nan=float("inf")).amin(0)
    high = torch.where(seen, rows, float("-inf")).amax(0)
    return tuple(name for name, one in zip(names, (low == high).tolist(), strict=True) if one)


def told(about: ArtefactInfo, scaling: Scaling) -> ArtefactInfo:
    """Return what an artefact says of itself with the unseen named, and without ranges of them."""
    names = unseen(scaling)
    ranges = {name: span for name, span in about.training_ranges.items() if name not in names}
    return msgspec.structs.replace(about, unseen=names, training_ranges=ranges)


def hide(windows: NDArray[np.float32] | Tensor, scaling: Scaling) -> None:
    """Make the unseen channels of windows [..., channel] missing, in place."""
    windows[..., [scaling.names.index(name) for name in unseen(scaling)]] = float("nan")
