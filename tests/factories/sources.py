"""Readings and statuses, so that a test shows only what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.collectors import SourceStatus
from exporter.readings import Gpu, Place, SourceFailed, SourceName, SourceReadings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

A, B = "GPU-aaaa", "GPU-bbbb"
INDICES = {A: "0", B: "1"}
TEMPERATURE = "gpu_temperature_celsius"
ENERGY = "gpu_energy_joules_total"


class Ticks:
    """Both clocks in the hand of a test."""

    def __init__(self, wall: float = 1_700_000_000.0, monotonic: float = 1_000.0) -> None:
        self.now_wall = wall
        self.now_monotonic = monotonic

    def wall(self) -> float:
        return self.now_wall

    def monotonic(self) -> float:
        return self.now_monotonic

    def advance(self, seconds: float) -> None:
        self.now_wall += seconds
        self.now_monotonic += seconds


def gpus(*uuids: str) -> tuple[Gpu, ...]:
    return tuple(Gpu(uuid, INDICES.get(uuid, "9")) for uuid in uuids)


def dcgm(temperatures: Mapping[str, float], **more: Any) -> SourceReadings:
    """Return a page with the core temperature of some GPUs."""
    values = {Place(TEMPERATURE, uuid): value for uuid, value in temperatures.items()}
    values |= more.pop("values", {})
    fields: dict[str, Any] = {"gpus": gpus(*temperatures), "strategy": "text"} | more
    return SourceReadings(SourceName.DCGM, values=values, **fields)


def up(readings: SourceReadings, read_at: float, interval_seconds: float = 30.0) -> SourceStatus:
    """Return the status of a source that just answered."""
    return SourceStatus(
        readings.source,
        interval_seconds,
        attempted=True,
        up=True,
        readings=readings,
        read_at=read_at,
        last_success=1_700_000_000.0,
        duration_seconds=0.25,
    )


class Scripted:
    """A source that answers with whatever its script returns or raises."""

    def __init__(
        self, script: Callable[[float], SourceReadings], name: SourceName = SourceName.DCGM
    ) -> None:
        self.name = name
        self.reads = 0
        self.closed = False
        self._script = script

    def read(self, now: float) -> SourceReadings:
        self.reads += 1
        return self._script(now)

    def close(self) -> None:
        self.closed = True


def failing(reason: Any, detail: str = "as scripted") -> Callable[[float], SourceReadings]:
    def script(_: float) -> SourceReadings:
        raise SourceFailed(reason, detail)

    return script
