"""What the model makes of healthy nodes of other sizes: `python -m benchmarks.node_sizes`.

Simulated healthy nodes, as the exporter's own arithmetic sees them at every
step: the highest probability of 24 h of each, and how many of its quantities
lie outside the training range for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import watched
from exporter.forecast import drift
from model import runtime
from model.training.episodes.dataset import episode
from simulator.history import Recording, record_all
from simulator.scenario import Scenario

if TYPE_CHECKING:
    from model.runtime import Predictor
    from simulator.history import NodeHistory

SIZES = (16, 12, 8, 7, 6, 5, 4, 2, 1)
STEPS = 16 * 60


def judged(predictor: Predictor, history: NodeHistory) -> tuple[float, int]:
    """Return the highest probability of 24 h, and the quantities that are outside for good."""
    info = predictor.info
    whole = episode(history)
    ranged = whole.of(tuple(info.training_ranges)).readings.astype(np.float64)
    held = drift.cold(info)
    for step in range(ranged.shape[1]):
        held = held.after(ranged[:, step], info)
    return watched.highest(predictor, whole), round(held.settled * (held.seen > 0).sum())


def main() -> None:
    """Print one line of Markdown per number of GPUs."""
    arguments = watched.asked(__doc__, nodes=5, seed=900)
    predictor = runtime.load(arguments.file)
    print(f"| GPUs | highest of each node | quantities outside for good |\n{'| --- ' * 3}|")
    for gpus in SIZES:
        plan = [
            Recording(Scenario(), f"n{gpus}-{place}", arguments.seed + place)
            for place in range(arguments.nodes)
        ]
        found = [judged(predictor, one) for one in record_all(plan, steps=STEPS, gpus=gpus)]
        said = ", ".join(f"{high:.2f}" for high, _ in found)
        least, most = (pick(strange for _, strange in found) for pick in (min, max))
        strange = f"{least}" if least == most else f"{least} to {most}"
        print(
            f"| {gpus} | {said} | {strange} of {len(predictor.info.training_ranges)} |", flush=True
        )


if __name__ == "__main__":
    main()
