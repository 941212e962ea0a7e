"""Simulated history as OpenMetrics text, from which promtool makes the blocks of a Prometheus."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import numpy as np

from model.schema import BY_NAME, Level
from simulator.endpoints.dcgm import gpu_uuid

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from simulator.history import NodeHistory

RAW = {
    "gpu_temperature_celsius": ("DCGM_FI_DEV_GPU_TEMP", 1.0),
    "gpu_memory_temperature_celsius": ("DCGM_FI_DEV_MEMORY_TEMP", 1.0),
    "gpu_power_watts": ("DCGM_FI_DEV_POWER_USAGE", 1.0),
    "gpu_energy_joules_total": ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1e3),
    "gpu_sm_clock_hertz": ("DCGM_FI_DEV_SM_CLOCK", 1e-6),
    "gpu_utilization_ratio": ("DCGM_FI_DEV_GPU_UTIL", 100.0),
    "gpu_memory_uncorrectable_errors_total": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1.0),
    "gpu_row_remap_failed": ("DCGM_FI_DEV_ROW_REMAP_FAILURE", 1.0),
    "gpu_xid_code": ("DCGM_FI_DEV_XID_ERRORS", 1.0),
}
"""Some of what dcgm-exporter lists, with the factor from our unit to its own."""


def pages(histories: Iterable[NodeHistory], start: int, seed: int) -> str:
    """Return what forewarn-exporters would have said from `start` (wall-clock seconds) on."""
    families: dict[str, list[str]] = {}
    for history in histories:
        for column, name in enumerate(history.channels):
            channel = BY_NAME[name]
            rows = history.values[:, :, column]
            if channel.level is Level.NODE:
                labels = [f'node="{history.node}"']
                rows = np.fmax.reduce(rows, axis=0)[None]
            else:
                labels = [
                    f'node="{history.node}",gpu="{gpu}",uuid="{gpu_uuid(seed, history.node, gpu)}"'
                    for gpu in range(len(rows))
                ]
            lines = families.setdefault(channel.metric, [])
            for label, row in zip(labels, rows, strict=True):
                lines += _samples(channel.metric, label, row, start, history.step_seconds)
    return _text(families)


def raw(histories: Iterable[NodeHistory], start: int, seed: int) -> str:
    """Return what dcgm-exporters would have said, under names of their own."""
    families: dict[str, list[str]] = {}
    for history in histories:
        for name, (family, factor) in RAW.items():
            rows = history.values[:, :, history.channels.index(name)] * factor
            for gpu, row in enumerate(rows):
                label = (
                    f'Hostname="{history.node}",gpu="{gpu}",modelName="H100",'
                    f'UUID="{gpu_uuid(seed, history.node, gpu)}",instance="10.0.0.1:9400"'
                )
                lines = families.setdefault(family, [])
                lines += _samples(family, label, row, start, history.step_seconds)
    return _text(families)


def blocks(text: str, folder: Path) -> None:
    """Make the blocks of a Prometheus in `folder`/tsdb."""
    source = folder / "history.om"
    source.write_text(text)
    subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", source, folder / "tsdb"],
        check=True,
        capture_output=True,
    )


def _samples(
    metric: str, labels: str, row: np.ndarray, start: int, step_seconds: float
) -> list[str]:
    walls = start + np.arange(len(row)) * int(step_seconds)
    return [
        f"{metric}{{{labels}}} {value!r} {wall}"
        for value, wall in zip(row.tolist(), walls.tolist(), strict=True)
        if value == value
    ]


def _text(families: dict[str, list[str]]) -> str:
    lines: list[str] = []
    for metric, samples in families.items():
        lines += [f"# TYPE {metric} unknown", *samples]
    return "\n".join([*lines, "# EOF", ""])
