"""A simulated node as the shipped model judges it: what benchmarks of single nodes share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import numbers
from model import schema
from model.cli import BUNDLED
from model.training.judging.replay import replay

if TYPE_CHECKING:
    from model.runtime import Predictor
    from model.training.episodes.dataset import Episode

DAY = list(schema.HORIZONS).index("24h")


def asked(doc: str, *, nodes: int, seed: int) -> argparse.Namespace:
    """Read the command line: which artefact, how many nodes a line, and the first one's seed."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=BUNDLED, help="default: the bundled")
    parser.add_argument(
        "--nodes", type=numbers.whole(1), default=nodes, help=f"nodes of each line ({nodes})"
    )
    parser.add_argument(
        "--seed", type=numbers.seed, default=seed, help=f"of the first of them ({seed})"
    )
    return parser.parse_args()


def highest(predictor: Predictor, whole: Episode) -> float:
    """Return the highest probability of 24 h, by the exporter's own arithmetic at every step."""
    return float(replay(predictor, whole.of(predictor.info.names), every=1).node[:, DAY].max())
