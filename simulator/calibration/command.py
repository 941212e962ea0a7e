"""`forewarn-simulator calibrate`: pictures and tables into a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon import destinations
from simulator.calibration import recorded
from simulator.calibration.comparison import codes, compare, table
from simulator.calibration.picture import draw
from simulator.calibration.simulated import Nodes, healthy_nodes

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

DAY_STEPS = 1_440
FOLDERS = ("acme_cdf", "frontier_cdu_power", "harvard_ipmi", "summit_xid")


def report(options: argparse.Namespace) -> str:
    """Compare, write and return the tables.

    Raises `ValueError` for impossible arguments and `OSError` for files.
    """
    if options.nodes < 1 or options.days <= 0:
        raise ValueError("--nodes and --days: expected more than 0")
    _check(options.data)
    destinations.folder("--out", options.out)
    steps = max(2, round(options.days * DAY_STEPS))
    nodes = Nodes(healthy_nodes(options.nodes, steps, options.seed))
    comparisons = list(compare(options.data, nodes))
    options.out.mkdir(exist_ok=True)
    for one in comparisons:
        title, unit = one.quantity.title, one.quantity.unit
        picture = draw(title, unit, one.recorded, one.simulated)
        (options.out / f"{one.quantity.name}.svg").write_text(picture, encoding="utf-8")
    xids = codes(recorded.xids_per_gpu_day(options.data), nodes.xids_per_gpu_day())
    text = (
        f"{options.nodes} healthy nodes of 8 GPUs, {steps} minutes each, seed {options.seed}. "
        "The gap is the largest difference of the cumulative distributions.\n\n"
        f"{table(comparisons)}\nEvents per thousand GPU-days:\n\n{xids}"
    )
    (options.out / "quantiles.md").write_text(text, encoding="utf-8")
    return text


def _check(data: Path) -> None:
    missing = [name for name in FOLDERS if not (data / name).is_dir()]
    if missing:
        raise ValueError(f"--data {data}: expected the folders {', '.join(FOLDERS)}; "
                         f"missing: {', '.join(missing)}")  # fmt: skip
