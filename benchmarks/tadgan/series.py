"""The published sets as series on an even grid: what is fitted, what is judged, what is true."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

Interval = tuple[int, int]
"""First and last step of a stretch, both in it."""

SMAP = "SMAP"
NAB_STEP_SECONDS = {"artificialWithAnomaly": 600, "realAdExchange": 3600, "realTraffic": 600}
"""Grid of each NAB set, as published."""

SETS = (SMAP, *NAB_STEP_SECONDS)
SHORT = {
    SMAP: "SMAP",
    "artificialWithAnomaly": "Art",
    "realAdExchange": "AdEx",
    "realTraffic": "Traffic",
}


@dataclass(frozen=True, slots=True)
class Series:
    """One channel: `train` and `test` [step] in the data's own unit, `truth` in steps of `test`.

    Where a set has no training part of its own, as NAB, `train` is `test`, as published.
    """

    group: str
    name: str
    train: NDArray[np.float64]
    test: NDArray[np.float64]
    truth: tuple[Interval, ...]

    @property
    def apart(self) -> bool:
        """Tell whether what is judged was kept out of the training."""
        return self.train is not self.test


def read(folder: Path) -> list[Series]:
    """Return the series that the published table lists; raises `OSError` where data is absent."""
    listed = published_signals(folder)
    return [one for one in (*_smap(folder), *_nab(folder)) if one.name in listed[one.group]]


def published_signals(folder: Path) -> dict[str, set[str]]:
    """Return the names of the published benchmark's series, by set."""
    with gzip.open(folder / "published" / "orion_0.7.1.csv.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["dataset"] in SETS]
    return {group: {row["signal"] for row in rows if row["dataset"] == group} for group in SETS}


def _smap(folder: Path) -> Iterator[Series]:
    with (folder / "smap" / "labeled_anomalies.csv").open(encoding="utf-8") as lines:
        labels = {row["chan_id"]: row for row in csv.DictReader(lines)}
    with np.load(folder / "smap" / "smap_float32.npz") as arrays:
        for key in arrays.files:
            kind, _, name = key.partition("_")
            if kind != "train":
                continue
            # Column 0 is telemetry, the rest are commands.
            truth = json.loads(labels[name]["anomaly_sequences"])
            yield Series(
                SMAP,
                name,
                arrays[key][:, 0].astype(np.float64),
                arrays[f"test_{name}"][:, 0].astype(np.float64),
                tuple((int(first), int(last)) for first, last in truth),
            )


def _nab(folder: Path) -> Iterator[Series]:
    labels = json.loads((folder / "nab/labels/combined_windows.json").read_text(encoding="utf-8"))
    for group, step_seconds in NAB_STEP_SECONDS.items():
        for path in sorted((folder / "nab" / "data" / group).glob("*.csv")):
            seconds, values = _columns(path)
            start = seconds[0] - seconds[0] % step_seconds
            grid = on_grid(seconds - start, values, step_seconds)
            truth = tuple(
                (
                    int((_seconds(a) - start) // step_seconds),
                    int((_seconds(b) - start) // step_seconds),
                )
                for a, b in labels[f"{group}/{path.name}"]
            )
            yield Series(group, path.stem, grid, grid, truth)


def _columns(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with path.open(encoding="utf-8") as lines:
        rows = [(_seconds(row["timestamp"]), float(row["value"])) for row in csv.DictReader(lines)]
    both = np.array(rows)
    return both[:, 0], both[:, 1]


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def on_grid(
    seconds: NDArray[np.float64], values: NDArray[np.float64], step_seconds: int
) -> NDArray[np.float64]:
    """Average what falls into each step; empty steps take the mean of all, as published."""
    step = (seconds // step_seconds).astype(np.int64)
    count = np.bincount(step)
    total = np.bincount(step, weights=values)
    grid = np.full(len(count), np.nan)
    grid[count > 0] = total[count > 0] / count[count > 0]
    grid[count == 0] = np.nanmean(grid)
    return grid
