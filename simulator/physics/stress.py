"""What scenarios do to machines: the hands with which a fault reaches into the physics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.physics import board

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats

OF_GPUS: dict[str, float] = {
    "interface_ratio": 1.0,
    "plate_flow_ratio": 1.0,
    "correctable_per_second": 0.0,
    "remaps_per_second": 0.0,
    "uncorrectable": 0.0,
    "nvlink_errors_per_second": 0.0,
    "pcie_replays_per_second": 0.0,
    "pcie_lanes": board.LINK_LANES,
    "pcie_generation": board.LINK_GENERATION,
    "xid": 0.0,
    "power_limit_watts": board.POWER_LIMIT_WATTS,
    "supplied_watts": np.inf,
    "floor_watts": 0.0,
    "recovery_action": 0.0,
}
FLAGS_OF_GPUS = ("remap_failed", "dead", "unbound", "unread", "hung", "partitioned")
OF_NODES: dict[str, float] = {
    "flow_ratio": 1.0,
    "static_pascals": 0.0,
    "bubble_ratio": 0.0,
    "supply_kelvin": 0.0,
    "inlet_kelvin": 0.0,
    "humidity_ratio": 0.0,
    "leak_volts": 0.0,
    "slowest_fan_ratio": 1.0,
    "airflow_ratio": 1.0,
    "fans_failed": 0.0,
    "board_kelvin": 0.0,
    "supply_loss_ratio": 0.0,
    "supplies_failed": 0.0,
    "supplies_unfed": 0.0,
    "bus_droop_volts": 0.0,
    "scrape_seconds": 0.0,
}
FLAGS_OF_NODES = (
    "halted", "waiting", "unfamiliar", "off", "fans_at_full", "page_down", "bmc_down", "reload",
    "restart",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stress:
    """Conditions that differ from a healthy machine's, per step; defaults are in this module.

    [step, node, gpu]: `interface_ratio` multiplies the thermal resistance of
    the solid path, `plate_flow_ratio` the flow through the GPU's own cold plate;
    `*_per_second` are rates added under load; `uncorrectable` errors and `xid`
    codes (0 = none) happen at a step; `pcie_lanes`, `pcie_generation`,
    `power_limit_watts`, `remap_failed`, `recovery_action` are levels;
    `supplied_watts` is what the board's regulators can deliver, `floor_watts`
    is drawn on top of idling.  `dead` GPUs draw nothing and have left the bus,
    `unbound` ones have left it on purpose, `unread` ones are blank at a step,
    `hung` ones claim to compute and do not, `partitioned` ones run under MIG.

    [step, node]: `flow_ratio` multiplies the coolant flow, `static_pascals` is
    added to the loop's pressure, `bubble_ratio` is the spread of flow and
    pressure by gas in the loop; `supply_kelvin`, `inlet_kelvin`, `board_kelvin`
    warm the coolant's set point, the inlet air, the boards; `humidity_ratio` is
    added to the air's, `leak_volts` taken from the leak detector's voltage;
    `slowest_fan_ratio` and `airflow_ratio` multiply the slowest fan's speed and
    the air moved; `supply_loss_ratio` is the share that the worst power supply
    loses on top, `supplies_failed` and `supplies_unfed` count supplies;
    `bus_droop_volts` are missing at full load; `scrape_seconds` delay the page.
    `halted` nodes run no work, `waiting` ones hold it without computing,
    `unfamiliar` ones run work of another kind, `off` ones have no power behind
    the BMC; `page_down` and `bmc_down` are sources that do not answer, `reload`
    is a step at which the driver starts anew, `restart` one at which only the
    exporter does.

    By channel of the BMC, [step, node]: `bias` is added to what a sensor sees,
    a `stuck` one shows what it showed before.
    """

    times: Floats
    step_seconds: float
    interface_ratio: Floats
    plate_flow_ratio: Floats
    correctable_per_second: Floats
    remaps_per_second: Floats
    uncorrectable: Floats
    nvlink_errors_per_second: Floats
    pcie_replays_per_second: Floats
    pcie_lanes: Floats
    pcie_generation: Floats
    xid: Floats
    power_limit_watts: Floats
    supplied_watts: Floats
    floor_watts: Floats
    recovery_action: Floats
    remap_failed: Flags
    dead: Flags
    unbound: Flags
    unread: Flags
    hung: Flags
    partitioned: Flags
    flow_ratio: Floats
    static_pascals: Floats
    bubble_ratio: Floats
    supply_kelvin: Floats
    inlet_kelvin: Floats
    humidity_ratio: Floats
    leak_volts: Floats
    slowest_fan_ratio: Floats
    airflow_ratio: Floats
    fans_failed: Floats
    board_kelvin: Floats
    supply_loss_ratio: Floats
    supplies_failed: Floats
    supplies_unfed: Floats
    bus_droop_volts: Floats
    scrape_seconds: Floats
    halted: Flags
    waiting: Flags
    unfamiliar: Flags
    off: Flags
    fans_at_full: Flags
    page_down: Flags
    bmc_down: Flags
    reload: Flags
    restart: Flags
    bias: dict[str, Floats] = field(default_factory=dict)
    stuck: dict[str, Flags] = field(default_factory=dict)

    def at(self, seconds: float) -> Flags:
        """Return [step]: the one step, if any, by which `seconds` has just come."""
        return (self.times >= seconds) & (self.times - self.step_seconds < seconds)

    def between(self, start_seconds: float, end_seconds: float) -> Flags:
        """Return [step]: whether each step lies in [start, end)."""
        return (self.times >= start_seconds) & (self.times < end_seconds)

    def sensor_bias(self, channel: str) -> Floats:
        """Return [step, node] of `bias` for one channel, to be written to."""
        return self.bias.setdefault(channel, np.zeros(self.flow_ratio.shape))

    def sensor_stuck(self, channel: str) -> Flags:
        """Return [step, node] of `stuck` for one channel, to be written to."""
        return self.stuck.setdefault(channel, np.zeros(self.flow_ratio.shape, dtype=bool))

    def calm_node(self) -> Stress:
        """Return the conditions of one healthy node at the same times."""
        return calm(self.times, self.step_seconds, 1, self.dead.shape[2])

    def adopt(self, other: Stress, lane: int, during: Flags) -> None:
        """Take over for `lane`, at the steps of `during`, the conditions of the node of `other`."""
        for name in (*OF_GPUS, *FLAGS_OF_GPUS, *OF_NODES, *FLAGS_OF_NODES):
            getattr(self, name)[during, lane] = getattr(other, name)[during, 0]
        for channel, bias in other.bias.items():
            self.sensor_bias(channel)[during, lane] = bias[during, 0]
        for channel, stuck in other.stuck.items():
            self.sensor_stuck(channel)[during, lane] = stuck[during, 0]


def calm(times: Floats, step_seconds: float, nodes: int, gpus: int) -> Stress:
    """Return the conditions of healthy machines."""
    wide, narrow = (times.size, nodes, gpus), (times.size, nodes)
    arrays: dict[str, Any] = {}
    arrays |= {name: np.full(wide, usual) for name, usual in OF_GPUS.items()}
    arrays |= {name: np.zeros(wide, dtype=bool) for name in FLAGS_OF_GPUS}
    arrays |= {name: np.full(narrow, usual) for name, usual in OF_NODES.items()}
    arrays |= {name: np.zeros(narrow, dtype=bool) for name in FLAGS_OF_NODES}
    return Stress(times=times, step_seconds=step_seconds, **arrays)
