"""Look-alikes in the instruments: what is wrong is the reading, or the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.faults.story import HOUR, Reach, Story

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

MINUTE = 60.0
STICKING = (
    "node_inlet_temperature_celsius",
    "node_fan_speed_rpm",
    "node_coolant_supply_temperature_celsius",
    "node_coolant_return_temperature_celsius",
    "node_coolant_flow_liters_per_minute",
    "node_board_temperature_celsius",
    "node_power_watts",
    "node_humidity_ratio",
)
DRIFTING: dict[str, float] = {
    "node_inlet_temperature_celsius": 8.0,
    "node_coolant_supply_temperature_celsius": 7.0,
    "node_coolant_return_temperature_celsius": 7.0,
    "node_coolant_flow_liters_per_minute": 2.5,
    "node_coolant_supply_pressure_pascals": 30_000.0,
    "node_board_temperature_celsius": 15.0,
    "node_humidity_ratio": 0.15,
    "node_bus_voltage_volts": 0.8,
}
"""Channel → how far its sensor is off at severity 1; other channels go on as before."""


class StuckSensor(Story):
    """One sensor of the BMC shows its last reading for ever, or for hours."""

    kind = "stuck-sensor"
    summary = "One sensor of the BMC sticks at its last reading; all others go on."
    reach = Reach.NODE
    duration_seconds = (1 * HOUR, 48 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Hold a drawn channel between onset and end."""
        name = STICKING[int(scenario.dice("sensor", 1)[0] * len(STICKING))]
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        stress.sensor_stuck(name)[during, lane] = True


class DriftingSensor(Story):
    """One sensor of the BMC goes off, up or down, until it is set right."""

    kind = "drifting-sensor"
    summary = "One sensor of the BMC drifts away from the truth; what it measures does not."
    reach = Reach.NODE
    duration_seconds = (4 * HOUR, 96 * HOUR)

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Add a growing error to a drawn channel between onset and end."""
        sensor, sign = scenario.dice("sensor", 2)
        name = list(DRIFTING)[int(sensor * len(DRIFTING))]
        during = stress.between(scenario.onset_seconds, scenario.end_seconds)
        error = DRIFTING[name] * scenario.severity * scenario.progress(stress.times)
        stress.sensor_bias(name)[:, lane] += error * during * (1.0 if sign < 0.5 else -1.0)


class BmcReboot(Story):
    """The BMC restarts: it is silent for minutes, and until it is back fans run to be safe."""

    kind = "bmc-reboot"
    summary = "The BMC restarts: minutes of silence, fans at full speed; nothing is wrong."
    reach = Reach.NODE
    duration_seconds = (2 * MINUTE, 8 * MINUTE)

    FANS_LONGER_SECONDS = 3 * MINUTE

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Silence the BMC between onset and end, and let the fans run a little longer."""
        stress.bmc_down[stress.between(scenario.onset_seconds, scenario.end_seconds), lane] = True
        until = scenario.end_seconds + self.FANS_LONGER_SECONDS
        stress.fans_at_full[stress.between(scenario.onset_seconds, until), lane] = True


class MonitorUpgrade(Story):
    """A new dcgm-exporter keeps the chips awake: idle boards draw more from its start on.

    Reported from the field: about 50 W more on every idle board, a step that
    all boards of the node take at once when the exporter restarts.
    """

    kind = "monitor-upgrade"
    summary = (
        "A new dcgm-exporter keeps boards awake: all draw 50 W more at rest; nothing is wrong."
    )
    reach = Reach.NODE
    duration_seconds = (6 * HOUR, 96 * HOUR)

    WATTS_AT_WORST = 55.0
    DOWN_SECONDS = 90.0

    def strike(self, scenario: Scenario, stress: Stress, lane: int) -> None:
        """Restart the exporter at the onset; raise the floor from then to the end."""
        back = scenario.onset_seconds + self.DOWN_SECONDS
        stress.page_down[stress.between(scenario.onset_seconds, back), lane] = True
        stress.restart[stress.at(back), lane] = True
        during = stress.between(back, scenario.end_seconds)
        stress.floor_watts[during, lane, :] += self.WATTS_AT_WORST * scenario.severity
