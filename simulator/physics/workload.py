"""What the GPUs are asked to do, as a function of time that needs no past."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simulator.arrays import Flags, Floats, Whole
    from simulator.noise import Noise
    from simulator.physics.stress import Stress

DAY_SECONDS = 86_400.0
OWN_WOBBLE, SHARED_WOBBLE = 0.012, 0.018
"""Spread of a minute's power, by GPU and for all GPUs of a node: recorded heat loads of whole
rows change by 1.4 % from one minute to the next (median)."""
ROUND_SECONDS = 660.0
"""Period of the unfamiliar work: GPUs take turns."""


class Workload(StrEnum):
    """Kinds of work; one kind per node."""

    TRAINING = "training"
    INFERENCE = "inference"
    MIXED = "mixed"
    IDLE = "idle"


@dataclass(slots=True)
class Activity:
    """Each [step, gpu], 0 where nothing runs.

    `busy` is the share of time in which a kernel runs, `intensity` the dynamic
    power it asks for (1 = a heavy training step, more than that meets the power
    limit), `memory` the busy share of the memory interface, `held` the share of
    the framebuffer in use.
    """

    busy: Floats
    intensity: Floats
    memory: Floats
    held: Floats


def activity(kind: Workload, noise: Noise, times: Floats, steps: Whole, gpus: int) -> Activity:
    """Return what one node's GPUs do at `times` (seconds); `noise` holds that node alone."""
    plan = {
        Workload.TRAINING: _training,
        Workload.INFERENCE: _inference,
        Workload.MIXED: _mixed,
        Workload.IDLE: _idle,
    }[kind]
    work = plan(noise, times, gpus)
    own = noise.normal("work wobble", steps, gpus)[:, 0]
    shared = noise.normal("work swing", steps, 1)[:, 0]
    wobble = OWN_WOBBLE * own + SHARED_WOBBLE * shared
    work.intensity = np.maximum(0.0, work.intensity * (1.0 + wobble))
    return work


def disturbed(work: Activity, stress: Stress, runs: Flags, times: Floats) -> Activity:
    """Return what really runs of `work` [step, node, gpu]; nothing does where `runs` is unset.

    Waiting for storage holds memory and computes nothing.  A hung GPU claims
    to be busy and computes nothing.  Unfamiliar work reads memory at full rate
    on half of the GPUs in turn, at moderate power, while the others wait.
    """
    busy, intensity = work.busy, work.intensity
    memory, held = work.memory, work.held
    if stress.unfamiliar.any():
        gpus = np.arange(busy.shape[-1])
        turn = (np.floor(times[:, None] / ROUND_SECONDS) + gpus) % 2.0
        odd = stress.unfamiliar[:, :, None]
        busy = np.where(odd, 0.12 + 0.87 * turn[:, None], busy)
        intensity = np.where(odd, 0.10 + 0.45 * turn[:, None], intensity)
        memory = np.where(odd, 0.10 + 0.85 * turn[:, None], memory)
        held = np.where(odd, 0.97, held)
    idles = stress.waiting[:, :, None] | stress.hung
    moves = runs & ~idles
    return Activity(
        busy=np.where(stress.hung, 1.0, np.where(idles, 0.02, busy)) * runs,
        intensity=np.where(idles, 0.05, intensity) * runs,
        memory=memory * moves,
        held=np.where(runs, held, 0.006),
    )


def _slots(
    noise: Noise, name: str, times: Floats, seconds: float, width: int
) -> tuple[Floats, Floats]:
    """Cut time into jobs: returns [step, width] draws in [0, 1) per job, and age in seconds."""
    phase = noise.uniform(name + " phase", np.zeros(1, np.int64), 1)[0, 0, 0] * seconds
    slot = np.floor((times + phase) / seconds)
    first, inverse = np.unique(slot.astype(np.int64), return_inverse=True)
    draws = noise.uniform(name, first, width)[:, 0][inverse]
    return draws, times + phase - slot * seconds


def _training(noise: Noise, times: Floats, gpus: int) -> Activity:
    """All GPUs step together, stop together to write checkpoints, and wait between jobs."""
    length = 14_400.0 + 43_200.0 * noise.uniform("job length", np.zeros(1, np.int64), 1)[0, 0, 0]
    draws, age = _slots(noise, "training job", times, float(length), 5 + gpus)
    wait = 120.0 + 1_500.0 * draws[:, 0]
    period = 1_200.0 + 2_400.0 * draws[:, 1]
    stall = 30.0 + 90.0 * draws[:, 2]
    started = age > wait
    computing = started & (np.mod(age - wait, period) < period - stall)
    imbalance = 1.0 + 0.02 * (draws[:, 5:] - 0.5)
    busy = np.where(computing, 0.99, np.where(started, 0.03, 0.0))[:, None] * np.ones(gpus)
    level = np.where(computing, 0.78 + 0.36 * draws[:, 3], np.where(started, 0.06, 0.0))
    memory = np.where(computing, 0.45 + 0.3 * draws[:, 4], 0.02)
    held = np.where(started, 0.80 + 0.15 * draws[:, 4], 0.006)
    return Activity(
        busy, level[:, None] * imbalance, memory[:, None] * imbalance, held[:, None] * imbalance
    )


def _inference(noise: Noise, times: Floats, gpus: int) -> Activity:
    """Load follows the day; requests spread unevenly over the GPUs and come in bursts."""
    share = noise.uniform("inference share", np.zeros(1, np.int64), gpus + 1)[0, 0]
    day = 0.5 - 0.5 * np.cos(2.0 * np.pi * (times / DAY_SECONDS - share[-1]))
    bursts = noise.drift("inference bursts", times, 420.0, gpus)[:, 0]
    load = (0.15 + 0.6 * day[:, None]) * (0.8 + 0.4 * share[:-1]) * (1.0 + 0.18 * bursts)
    load = np.clip(load, 0.02, 1.0)
    return Activity(load, 0.08 + 0.62 * load, 0.1 + 0.6 * load, np.full_like(load, 0.88))


def _mixed(noise: Noise, times: Floats, gpus: int) -> Activity:
    """Each GPU has jobs of its own, a third of the time none."""
    columns = []
    for gpu in range(gpus):
        draws, age = _slots(noise, f"mixed job {gpu}", times, 5_400.0 + 900.0 * gpu, 3)
        working = (draws[:, 0] > 0.34) & (age > 90.0)
        columns.append(np.where(working, 0.25 + 0.75 * draws[:, 1:].T, 0.0))
    load, weight = np.stack(columns, axis=-1)
    return Activity(load, load * weight, 0.75 * load * weight, 0.01 + 0.8 * weight)


def _idle(noise: Noise, times: Floats, gpus: int) -> Activity:
    del noise
    nothing = np.zeros((times.size, gpus))
    return Activity(nothing, nothing.copy(), nothing.copy(), np.full_like(nothing, 0.006))
