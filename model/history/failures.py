"""Failures that the data themselves show, and the times that prove nothing.

A failure is the first of: a positive XID that appears, a row remap that fails,
a double-bit error, a recovery action that asks for a reset, a GPU at work that
is missing for three steps while its siblings report, a thermal shutdown.  XIDs
of applications are no failures, on purpose: a good predictor must not fire on
them.  Whatever follows a driver load, a change of MIG layout or a reload of the
source is not judged either way, nor is a GPU that leaves at rest, with nothing
but its absence against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from model.increments import RESTARTED, increments
from model.schema import STEP_SECONDS, Cause
from model.sources import dcgm
from model.sources.xid import HARDWARE, XidClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from model.history.record import Record


class Sign(StrEnum):
    """What showed a failure."""

    XID = "xid"
    REMAP_FAILED = "remap_failed"
    DOUBLE_BIT = "double_bit"
    RECOVERY_ACTION = "recovery_action"
    GPU_MISSING = "gpu_missing"
    THERMAL_SHUTDOWN = "thermal_shutdown"
    INCIDENT = "incident"


ABSENCES = frozenset({Sign.GPU_MISSING, Sign.THERMAL_SHUTDOWN})
"""Signs that a planned reload gives too, shortly ahead of it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What failed, at which wall-clock second; `uuid` empty: the node as a whole."""

    time: float
    uuid: str
    cause: Cause
    sign: Sign


REMAP_FAILED, ACTION = "gpu_row_remap_failed", "gpu_recovery_action"
DOUBLE_BIT = "gpu_memory_uncorrectable_errors_total"
HARDWARE_EVENTS = dcgm.EVENTS[XidClass.HARDWARE]
MARGINS = ("gpu_shutdown_margin_celsius", "gpu_temperature_margin_celsius")
TEMPERATURE = "gpu_temperature_celsius"
POWER, UTILISATION = "gpu_power_watts", "gpu_utilization_ratio"

LABEL_CHANNELS = (
    TEMPERATURE,
    POWER,
    UTILISATION,
    dcgm.ENGINE,
    dcgm.ENERGY,
    dcgm.LATCHED,
    REMAP_FAILED,
    DOUBLE_BIT,
    ACTION,
    HARDWARE_EVENTS,
    *MARGINS,
)
"""What must be asked for to see failures, and rest; any of it may be absent on a site."""

MISSING_STEPS = 3
CLEARED_STEPS = 3
"""A code that a reporting GPU has not shown for so long was cleared, and may come anew."""
MERGE_SECONDS = 15 * 60
RELOAD_STEPS, AFTER_STEPS, LEAVING_STEPS, LOAD_STEPS = 2, 15, 10, 5
"""A source silent for so long was restarted; what follows it, or leaves before it, is doubtful."""
BUSY_STEPS, LATELY_STEPS = 3, 15
"""A GPU was at work when it was in one of so many known steps, none older than so many."""
SHUTDOWN_MARGIN_CELSIUS = {MARGINS[0]: 1.0, MARGINS[1]: -8.0}
"""At or below this, what left was shut down by heat; thermal slowdown begins at 0."""
ACTIONS = (1.0, 2.0, 4.0)

CAUSES: dict[Cause, frozenset[int]] = {
    Cause.MEMORY: frozenset({48, 64, 95, 140, 155, 156, 157, 158}),
    Cause.INTERCONNECT: frozenset({74, 136, *range(144, 151), 167}),
    Cause.POWER: frozenset({54}),
}
"""Positive codes by what they accuse; those that are left accuse the device."""


def cause_of(code: int) -> Cause:
    """Return the cause that a positive XID stands for."""
    return next((cause for cause, codes in CAUSES.items() if code in codes), Cause.DEVICE)


@dataclass(frozen=True, slots=True)
class Signs:
    """Failures in order of time, and what may have been planned: times of signs, and absences.

    `alone` are GPUs that left at rest, with nothing else against them.
    """

    failures: tuple[Failure, ...]
    unjudged: tuple[float, ...]
    alone: tuple[Failure, ...] = ()


def signs(record: Record) -> Signs:
    """Return what the data show of all GPUs, merged within a quarter of an hour per GPU."""
    found: list[Failure] = []
    alone: list[Failure] = []
    unjudged: list[float] = []
    risen = {name: _risen(record.channel(name)) for name in (HARDWARE_EVENTS, DOUBLE_BIT)}
    doubted = {False: doubtful(record, before=0), True: doubtful(record, before=LEAVING_STEPS)}
    for gpu, uuid in enumerate(record.uuids):
        last = -np.inf
        shown = sorted(_of_gpu(record, gpu, risen), key=lambda one: one[0])
        for place, (step, cause, sign) in enumerate(shown):
            time = float(record.start + step * STEP_SECONDS)
            merges = time - last <= MERGE_SECONDS
            if doubted[sign in ABSENCES][step]:
                unjudged.append(time)
            elif sign is Sign.GPU_MISSING and not (
                merges or _second_sign(record, gpu, shown[place:])
            ):
                alone.append(Failure(time, uuid, cause, sign))
                continue
            elif not merges:
                found.append(Failure(time, uuid, cause, sign))
            last = time
    return Signs(_ordered(found), tuple(sorted(unjudged)), _ordered(alone))


def _ordered(found: Iterable[Failure]) -> tuple[Failure, ...]:
    return tuple(sorted(found, key=lambda one: (one.time, one.uuid)))


def _second_sign(record: Record, gpu: int, shown: Sequence[tuple[int, Cause, Sign]]) -> bool:
    """Tell whether more than its absence speaks against a GPU: work, or a sign soon after.

    `shown` begins with the absence.  Devices also leave on purpose, alone and at rest.
    """
    step = shown[0][0]
    soon = (sign for at, _, sign in shown[1:] if (at - step) * STEP_SECONDS <= MERGE_SECONDS)
    return any(sign not in ABSENCES for sign in soon) or _was_busy(record, gpu, step)


def _was_busy(record: Record, gpu: int, step: int) -> bool:
    """Tell whether a GPU worked in its last known minutes before `step`."""
    for name in (UTILISATION, dcgm.ENGINE):
        lately = record.channel(name)[gpu, max(0, step - LATELY_STEPS) : step]
        if (lately[~np.isnan(lately)][-BUSY_STEPS:] > dcgm.ACTIVE_RATIO).any():
            return True
    return False


def doubtful(record: Record, *, before: int) -> NDArray[np.bool_]:
    """Mark [step] what follows a driver load, a MIG change or a reload, and `before` steps ahead.

    A load resets the energy of every GPU at once; before a reload the whole
    source is silent.
    """
    marked = record.changed | _loads(record)
    silent: NDArray[np.bool_] = ~np.asarray(record.present.any(0))
    for begin, end in stretches(silent):
        if end - begin >= RELOAD_STEPS and end < len(marked):
            marked[end] = True
    out = marked.copy()
    for step in np.flatnonzero(marked):
        out[max(0, step - before) : step + AFTER_STEPS + 1] = True
    return out


def stretches(marked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return (first, past the last) of each run of marked steps."""
    edges = np.flatnonzero(np.diff(marked.astype(np.int8), prepend=0, append=0))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _loads(record: Record) -> NDArray[np.bool_]:
    """Mark the steps at which the energy of every GPU that is read begins anew."""
    energy = np.ascontiguousarray(record.channel(dcgm.ENERGY).T)
    silent = np.isnan(energy)
    if not energy.size:
        return np.zeros(len(energy), dtype=bool)
    before = _held(energy)[:-1]
    with np.errstate(invalid="ignore"):
        fell = np.vstack((silent[:1] & False, energy[1:] < RESTARTED * before))
    # The GPUs come back one after the other, over a few steps.
    lately = fell.copy()
    for steps in range(1, LOAD_STEPS):
        lately[steps:] |= fell[:-steps]
    several = lately.sum(1) >= min(2, len(record.uuids))
    return np.asarray(several & fell.any(1) & (lately | silent).all(1))


def _of_gpu(
    record: Record, gpu: int, risen: Mapping[str, NDArray[np.bool_]]
) -> Iterator[tuple[int, Cause, Sign]]:
    present = record.present[gpu]
    code = record.channel(dcgm.LATCHED)[gpu]
    for step in _appearing(code, present):
        yield step, cause_of(int(code[step])), Sign.XID
    for step in map(int, np.flatnonzero(risen[HARDWARE_EVENTS][gpu])):
        latched = code[step]
        known = not np.isnan(latched) and int(latched) in HARDWARE
        yield step, cause_of(int(latched)) if known else Cause.DEVICE, Sign.XID
    for step in _entering(record.channel(REMAP_FAILED)[gpu], (1.0,)):
        yield step, Cause.MEMORY, Sign.REMAP_FAILED
    for step in map(int, np.flatnonzero(risen[DOUBLE_BIT][gpu])):
        yield step, Cause.MEMORY, Sign.DOUBLE_BIT
    for step in _entering(record.channel(ACTION)[gpu], ACTIONS):
        yield step, Cause.DEVICE, Sign.RECOVERY_ACTION
    for step in _leaving(present, np.asarray(record.present.any(0))):
        hot = _was_hot(record, gpu, step)
        yield (
            step,
            Cause.THERMAL if hot else Cause.DEVICE,
            Sign.THERMAL_SHUTDOWN if hot else Sign.GPU_MISSING,
        )


def _appearing(code: NDArray[np.float64], present: NDArray[np.bool_]) -> Iterator[int]:
    """Yield the steps at which a positive code appears; the first that was ever seen is old."""
    heard = np.flatnonzero(present | ~np.isnan(code))
    told = np.nan_to_num(code[heard], nan=0.0)
    edges = np.flatnonzero(np.diff(told, prepend=-1.0))
    shown, begun = 0.0, False
    for begin, end in zip(edges, [*edges[1:], len(told)], strict=True):
        value = float(told[begin])
        if value and value != shown and begun and int(value) in HARDWARE:
            yield int(heard[begin])
        if value or end - begin >= CLEARED_STEPS:
            shown = value
        begun = True


def _risen(counter: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark [gpu, step] at which a counter [gpu, step] grew; all GPUs at once, for speed."""
    if np.isnan(counter).all():
        return np.zeros(counter.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(increments(np.ascontiguousarray(counter.T)).T > 0)


def _entering(values: NDArray[np.float64], bad: tuple[float, ...]) -> list[int]:
    """Return the steps at which a known good value turns into one of `bad`."""
    steps = np.flatnonzero(~np.isnan(values))
    inside = np.isin(values[steps], bad)
    return [int(step) for step in steps[1:][inside[1:] & ~inside[:-1]]]


def _leaving(present: NDArray[np.bool_], siblings: NDArray[np.bool_]) -> Iterator[int]:
    """Yield the first step of each absence of three or more, of a GPU that was there before."""
    answered = np.flatnonzero(siblings)
    here = present[answered]
    for place in np.flatnonzero(here[:-1] & ~here[1:]) + 1:
        if len(here) >= place + MISSING_STEPS and not here[place : place + MISSING_STEPS].any():
            yield int(answered[place])


def _was_hot(record: Record, gpu: int, step: int) -> bool:
    for name, limit in SHUTDOWN_MARGIN_CELSIUS.items():
        last = record.channel(name)[gpu, max(0, step - 3) : step]
        if (last[~np.isnan(last)] <= limit).any():
            return True
    return False


def _held(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Carry the last known value of each column [step, gpu] forward."""
    steps = np.where(np.isnan(values), -1, np.arange(len(values))[:, None])
    last = np.maximum.accumulate(steps, axis=0)
    held = np.take_along_axis(values, np.maximum(last, 0), axis=0)
    return np.where(last >= 0, held, np.nan)
