"""Window in, prediction out, or the reason why there is none.

The forecaster advances window and model state exactly once per grid step,
through gaps as well, so that the same history always gives the same answer.
What lacks its inputs is withdrawn, never guessed and never frozen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exporter.forecast import drift as drifts
from exporter.forecast.drift import UNLIMITED, Doubt, Drift, Trust
from exporter.readings import SourceName
from exporter.window import window as windows
from model import schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exporter.forecast.shelf import InForce
    from exporter.readings import Gpu
    from exporter.window.snapshot import NodeSnapshot
    from exporter.window.window import Window
    from model.runtime import Prediction

REPLAY_LIMIT_SECONDS = 72 * 3600
"""In the model's own time: after a longer gap the state starts cold."""

FRESH_STEPS = 3
"""A forecast older than this many grid steps is withdrawn."""


class State(StrEnum):
    """What the page says of its prediction; only `ok` and `degraded` come with probabilities."""

    OK = "ok"
    WARMING_UP = "warming_up"
    DEGRADED = "degraded"
    BLIND = "blind"
    NO_MODEL = "no_model"


class Degraded(StrEnum):
    """Why a prediction is worth less than it could be."""

    GPU_MISSING = "gpu_missing"
    BMC_DOWN = "bmc_down"
    OPTIONAL_CHANNELS = "optional_channels"
    FALLBACK_MODEL = "fallback_model"


@dataclass(frozen=True, slots=True)
class Forecast:
    """One step's judgement; `made_at` is monotonic and `timestamp` wall-clock seconds."""

    state: State
    degraded: frozenset[Degraded] = frozenset()
    missing_channels: tuple[str, ...] = ()
    fill_ratio: float = 0.0
    gpus: tuple[Gpu, ...] = ()
    prediction: Prediction | None = None
    in_force: InForce | None = None
    made_at: float = 0.0
    timestamp: float = 0.0
    step_seconds: float = float(schema.STEP_SECONDS)
    drift: Drift = field(default_factory=drifts.unknown)
    doubts: frozenset[Doubt] = frozenset()

    def is_fresh(self, now: float) -> bool:
        """Tell whether the forecast still speaks for `now` (monotonic seconds)."""
        return now - self.made_at <= FRESH_STEPS * self.step_seconds


class Position(NamedTuple):
    """A step of the grid: its monotonic and wall-clock time, and the steps skipped before it."""

    at: float
    wall: float
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Window, model state and drift, which always move together; `state` is [gpu, k] float32."""

    window: Window
    state: NDArray[np.float32]
    model_digest: str = ""
    drift: Drift = field(default_factory=drifts.unknown)

    def fitted(self, gpus: tuple[Gpu, ...], in_force: InForce | None, steps: int) -> Memory:
        """Return the memory for these GPUs and this model; another model starts a cold state."""
        uuids = tuple(gpu.uuid for gpu in gpus)
        window = self.window.with_gpus(uuids).with_steps(steps)
        if in_force is None:
            return Memory(window, np.zeros((len(uuids), 0), np.float32))
        predictor = in_force.predictor
        state = predictor.initial_state(len(uuids))
        drift = drifts.cold(predictor.info)
        if predictor.digest == self.model_digest:
            drift = self.drift if self.drift.fits(predictor.info) else drift
            have = {uuid: index for index, uuid in enumerate(self.window.uuids)}
            for index, uuid in enumerate(uuids):
                if uuid in have:
                    state[index] = self.state[have[uuid]]
        return Memory(window, state, predictor.digest, drift)


@dataclass(frozen=True, slots=True)
class Forecaster:
    """Judges one step after another; holds nothing between them.

    `step_seconds` is the grid's real length, `minimum_fill_ratio` the share of
    the window that must have been read before a probability may be shown.
    """

    step_seconds: float
    minimum_fill_ratio: float
    bmc_configured: bool
    trust: Trust = UNLIMITED

    def advance(
        self, memory: Memory, snapshot: NodeSnapshot, in_force: InForce | None, position: Position
    ) -> tuple[Memory, Forecast]:
        """Take the step at `position`, skipped ones as gaps; return what is known then."""
        steps = in_force.predictor.info.window_steps if in_force else schema.WINDOW_STEPS
        memory = memory.fitted(snapshot.expected, in_force, steps)
        memory = self.replay(memory, in_force, position)
        window = memory.window.push(windows.row(snapshot), position.wall)
        prediction, memory = _predict(replace(memory, window=window), in_force)
        forecast = self._judge(window, snapshot, in_force, prediction, position)
        return memory, self._with_doubts(forecast, memory.drift, snapshot.installed_count)

    def relive(
        self,
        memory: Memory,
        expected: tuple[Gpu, ...],
        row: NDArray[np.float64],
        wall: float,
        in_force: InForce | None,
    ) -> Memory:
        """Take a step of the past: `row` is [gpu, channel], a row per expected GPU."""
        steps = in_force.predictor.info.window_steps if in_force else schema.WINDOW_STEPS
        memory = memory.fitted(expected, in_force, steps)
        return _predict(replace(memory, window=memory.window.push(row, wall)), in_force)[1]

    def join(
        self, past: Memory, lived: Memory, expected: tuple[Gpu, ...], in_force: InForce | None
    ) -> Memory:
        """Live through the steps of `lived` again, after those of `past`, gaps between them too."""
        window = lived.window
        memory = past
        for step in np.flatnonzero(window.walls > past.window.last_wall + self.step_seconds / 2):
            wall = float(window.walls[step])
            between = round((wall - memory.window.last_wall) / self.step_seconds) - 1
            position = Position(0.0, wall, max(0, between))
            row = window.row_at(int(step), [gpu.uuid for gpu in expected])
            memory = self.replay(memory, in_force, position)
            memory = self.relive(memory, expected, row, wall, in_force)
        return memory

    def replay(self, memory: Memory, in_force: InForce | None, position: Position) -> Memory:
        """Advance through the steps that were skipped before `position`."""
        skipped = position.skipped
        if in_force is None:
            skipped = min(skipped, memory.window.steps)
        elif skipped * in_force.predictor.info.step_seconds > REPLAY_LIMIT_SECONDS:
            state = in_force.predictor.initial_state(len(memory.window.uuids))
            memory = replace(memory, state=state)
            skipped = memory.window.steps
        for ago in range(skipped, 0, -1):
            window = memory.window.push_gap(position.wall - ago * self.step_seconds)
            _, memory = _predict(replace(memory, window=window), in_force)
        return memory

    def _judge(
        self,
        window: Window,
        snapshot: NodeSnapshot,
        in_force: InForce | None,
        prediction: Prediction | None,
        position: Position,
    ) -> Forecast:
        fill = window.fill_ratio(window.steps)
        absent = _absent(window, in_force)
        degraded = self._degraded(snapshot, in_force, absent)
        state = self._state(in_force, absent, fill, degraded)
        if prediction is None and state in {State.OK, State.DEGRADED}:
            state = State.BLIND
        shown = prediction if state in {State.OK, State.DEGRADED} else None
        return Forecast(
            state=state,
            degraded=degraded,
            missing_channels=absent,
            fill_ratio=fill,
            gpus=snapshot.expected,
            prediction=shown,
            in_force=in_force,
            made_at=position.at,
            timestamp=position.wall,
            step_seconds=self.step_seconds,
        )

    def _with_doubts(self, forecast: Forecast, drift: Drift, gpus: int | None) -> Forecast:
        if forecast.in_force is None:
            return forecast
        info = forecast.in_force.predictor.info
        doubts = self.trust.doubts(info, drift, gpus=gpus, wall=forecast.timestamp)
        return replace(forecast, drift=drift, doubts=doubts)

    def _state(
        self,
        in_force: InForce | None,
        absent: tuple[str, ...],
        fill: float,
        degraded: frozenset[Degraded],
    ) -> State:
        if in_force is None:
            return State.NO_MODEL
        if in_force.predictor.info.required & set(absent):
            return State.BLIND
        if fill < self.minimum_fill_ratio:
            return State.WARMING_UP
        return State.DEGRADED if degraded else State.OK

    def _degraded(
        self, snapshot: NodeSnapshot, in_force: InForce | None, absent: tuple[str, ...]
    ) -> frozenset[Degraded]:
        required = in_force.predictor.info.required if in_force else frozenset()
        bmc = snapshot.sources.get(SourceName.REDFISH)
        reasons = {
            Degraded.GPU_MISSING: snapshot.gpu_missing,
            Degraded.BMC_DOWN: self.bmc_configured and not (bmc is not None and bmc.up),
            Degraded.OPTIONAL_CHANNELS: bool(set(absent) - required),
            Degraded.FALLBACK_MODEL: in_force is not None and in_force.fallback,
        }
        return frozenset(reason for reason, holds in reasons.items() if holds)


def _absent(window: Window, in_force: InForce | None) -> tuple[str, ...]:
    """Return the model's channels that no GPU has in the newest step, in model order."""
    if in_force is None:
        return ()
    known = window.known_now()
    return tuple(name for name in in_force.predictor.info.names if name not in known)


def _predict(memory: Memory, in_force: InForce | None) -> tuple[Prediction | None, Memory]:
    """Run the model once over the window; with nobody to predict for, nothing runs."""
    if in_force is None or not memory.window.uuids:
        return None, memory
    predictor = in_force.predictor
    info = predictor.info
    row = memory.window.newest(tuple(info.training_ranges))
    memory = replace(memory, drift=memory.drift.after(row, info))
    prediction = predictor.predict(memory.window.matrix(info.names), memory.state)
    if not all(np.isfinite(part).all() for part in (prediction.node, prediction.state)):
        # Kept out of the state, where one NaN would stay for good.
        return None, memory
    return prediction, replace(memory, state=prediction.state)


def cold(steps: int = schema.WINDOW_STEPS) -> Memory:
    """Return the memory of a process that knows nothing yet."""
    return Memory(windows.empty((), steps), np.zeros((0, 0), np.float32))
