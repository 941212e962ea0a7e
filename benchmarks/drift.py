"""How far healthy, ill and foreign nodes are from the training range: `python -m benchmarks.drift`.

Simulated nodes, as the exporter's drift sees them. A fault lasts 100 hours from
its onset at the end of the first day; a foreign node is a healthy one of which
some readings are replaced. The first ten hours do not count: their average is
of an hour's readings.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.forecast import drift
from model import runtime
from model.cli import BUNDLED
from model.training.episodes.dataset import episode
from simulator.faults import STORIES
from simulator.history import Recording, record_all
from simulator.physics.workload import Workload
from simulator.scenario import HEALTHY, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.artefact import ArtefactInfo

    Rows = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

DAY, HOUR = 1_440, 3_600.0
YOUNG_STEPS = 600
INLET, BOARD = "node_inlet_temperature_celsius", "node_board_temperature_celsius"
FOREIGN: dict[str, dict[str, Callable[[dict[str, Rows]], Rows | float]]] = {
    "an A100's power limit and memory clock": {
        "gpu_power_limit_watts": lambda _: 400.0,
        "gpu_memory_clock_hertz": lambda _: 1.593e9,
    },
    "a B200's power limit and memory clock": {
        "gpu_power_limit_watts": lambda _: 1_000.0,
        "gpu_memory_clock_hertz": lambda _: 3.996e9,
    },
    "an H200's memory clock": {"gpu_memory_clock_hertz": lambda _: 3.201e9},
    "inlet and board sensors swapped": {
        INLET: lambda read: read[BOARD],
        BOARD: lambda read: read[INLET],
    },
    "other fans and a 12 V bus": {
        "node_fan_speed_rpm": lambda _: 11_000.0,
        "node_bus_voltage_volts": lambda _: 12.2,
    },
    "pressure in kPa": {
        "node_coolant_supply_pressure_pascals": lambda read: (
            read["node_coolant_supply_pressure_pascals"] / 1_000.0
        )
    },
    "inlet in degrees Fahrenheit": {INLET: lambda read: read[INLET] * 1.8 + 32.0},
}


def readings(info: ArtefactInfo, scenario: Scenario, seed: int, days: int) -> dict[str, Rows]:
    """Return [gpu, step] of each ranged channel, until the failure."""
    (history,) = record_all([Recording(scenario, "n1", seed)], steps=days * DAY, step_seconds=60)
    whole = episode(history)
    end = None if history.failure is None else int(history.failure.time_seconds // 60)
    return {
        name: whole.readings[:, :end, whole.channels.index(name)].astype(np.float64)
        for name in info.training_ranges
    }


def highest(info: ArtefactInfo, read: dict[str, Rows]) -> tuple[float, int]:
    """Return the highest mean share, and the most quantities that were outside for good."""
    rows, held = np.stack(list(read.values()), axis=-1), drift.cold(info)
    mean, settled = 0.0, 0.0
    for step in range(rows.shape[1]):
        held = held.after(rows[:, step], info)
        if step >= YOUNG_STEPS:
            mean, settled = max(mean, held.ratio or 0.0), max(settled, held.settled)
    return mean, round(settled * (held.seen > 0).sum())


def main() -> None:
    """Print one line of Markdown per node."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=BUNDLED)
    info = runtime.load(parser.parse_args().file).info
    print(f"| node | mean share | quantities outside for good |\n{'| --- ' * 3}|")

    def tell(name: str, read: dict[str, Rows]) -> None:
        mean, settled = highest(info, read)
        print(f"| {name} | {mean:.3f} | {settled} |", flush=True)

    for workload in Workload:
        for seed in (101, 102, 103):
            healthy = Scenario(kind=HEALTHY, workload=workload)
            tell(f"{HEALTHY}, {workload}", readings(info, healthy, seed, 2))
    for kind in sorted(STORIES.keys() - {HEALTHY}):
        ill = Scenario(kind, onset_seconds=24 * HOUR, duration_seconds=100 * HOUR, severity=0.95)
        tell(kind, readings(info, ill, 301, 6))
    usual = readings(info, Scenario(), 5, 2)
    for name, changes in FOREIGN.items():
        changed = {
            one: np.zeros_like(usual[one]) + change(usual) for one, change in changes.items()
        }
        tell(name, usual | changed)


if __name__ == "__main__":
    main()
