"""How a fault ends: what is lost, and which sign the loss leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.physics.stress import Stress
    from simulator.scenario import Scenario

OFF_THE_BUS = 79


def lose_gpu(scenario: Scenario, stress: Stress, lane: int, code: int = OFF_THE_BUS) -> None:
    """From the end on the struck GPU has left the bus, and the node's work is over."""
    failed = stress.times >= scenario.end_seconds
    stress.dead[failed, lane, scenario.gpu] = True
    stress.halted[failed, lane] = True
    stress.xid[stress.at(scenario.end_seconds), lane, scenario.gpu] = code


def lose_all_gpus(scenario: Scenario, stress: Stress, lane: int) -> None:
    """From the end on all GPUs of the node have shut down hot."""
    failed = stress.times >= scenario.end_seconds
    stress.dead[failed, lane, :] = True
    stress.halted[failed, lane] = True
    stress.xid[stress.at(scenario.end_seconds), lane, :] = OFF_THE_BUS


def stop_job(scenario: Scenario, stress: Stress, lane: int, code: int, action: float) -> None:
    """From the end on the GPU wants `action` (see the channel), which ends the node's work."""
    failed = stress.times >= scenario.end_seconds
    stress.recovery_action[failed, lane, scenario.gpu] = action
    stress.halted[failed, lane] = True
    stress.xid[stress.at(scenario.end_seconds), lane, scenario.gpu] = code


def power_off(scenario: Scenario, stress: Stress, lane: int, *, with_bmc: bool = False) -> None:
    """From the end on the host has no power; only its BMC goes on, unless that dies with it."""
    failed = stress.times >= scenario.end_seconds
    stress.off[failed, lane] = True
    stress.halted[failed, lane] = True
    if with_bmc:
        stress.bmc_down[failed, lane] = True
