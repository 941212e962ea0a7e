"""OpenMetrics text: well formed, complete, with the exporter's names or dcgm-exporter's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from model.schema import BY_NAME
from simulator.cli import run
from simulator.endpoints.dcgm import gpu_uuid
from simulator.history import record
from simulator.recorder.openmetrics import escaped
from simulator.recorder.progress import Progress

SHORT = ["--each", "1", "--days", "0.02", "--gpus", "2", "--seed", "3"]
START = 1_767_225_600.0


def export(folder: Path, *arguments: str) -> dict[str, list]:
    """Samples by family."""
    out = folder / "history.om"
    assert run(["export", "--out", str(out), *SHORT, *arguments]) == 0
    families = text_string_to_metric_families(out.read_text(encoding="utf-8"))
    return {family.name: list(family.samples) for family in families}


def test_every_reading_is_a_sample_with_its_time_and_what_was_not_read_is_none(
    tmp_path: Path,
) -> None:
    told = export(tmp_path, "--scenario", "exporter-restart", "--label", "job=forewarn-exporter")
    history = record(
        "exporter-restart", node="exporter-restart-000", seed=3_000_009, steps=29, gpus=2
    )
    for column, name in enumerate(history.channels):
        family = told.get(BY_NAME[name].metric.removesuffix("_total"), [])
        rows = 2 if name.startswith("gpu_") else 1
        values = history.values[:rows, :, column]
        assert len(family) == np.isfinite(values).sum(), name
        for sample in family:
            row = int(sample.labels.get("gpu", "0"))
            step = round((float(sample.timestamp) - START) / 60)
            assert sample.value == values[row, step]
            assert sample.labels["node"] == history.node
            assert sample.labels["job"] == "forewarn-exporter"
            if rows == 2:
                assert sample.labels["uuid"] == gpu_uuid(3_000_009, history.node, row)
    assert sum(map(len, told.values())) > 1_000


def test_counters_are_counters_and_the_rest_are_gauges(tmp_path: Path) -> None:
    export(tmp_path, "--scenario", "healthy")
    text = (tmp_path / "history.om").read_text(encoding="utf-8")
    assert "# TYPE forewarn_gpu_energy_joules counter\n" in text
    assert "# TYPE forewarn_gpu_power_watts gauge\n" in text
    assert text.endswith("# EOF\n")


def test_the_names_of_dcgm_come_with_its_labels_and_units(tmp_path: Path) -> None:
    told = export(tmp_path, "--scenario", "healthy", "--names", "dcgm")
    power = told["DCGM_FI_DEV_POWER_USAGE"]
    assert len(power) == 2 * 29
    assert {"gpu", "UUID", "Hostname", "modelName"} <= set(power[0].labels)
    energy = told["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]
    assert 1e9 < energy[0].value < 1e13
    assert not any(name.startswith("forewarn") for name in told)


def test_failures_within_the_slice_are_listed_as_incidents(tmp_path: Path) -> None:
    list_of_them = tmp_path / "incidents.csv"
    arguments = ["--scenario", "off-bus", "--scenario", "healthy", "--incidents", str(list_of_them)]
    arguments += ["--start", "2026-11-02T10:00:00+01:00", "--days", "0.3"]
    assert run(["export", "--out", str(tmp_path / "history.om"), *SHORT, *arguments]) == 0
    head, *rows = list_of_them.read_text(encoding="utf-8").splitlines()
    assert head == "start,end,node,cause"
    assert len(rows) == 1
    start, end, node, cause = rows[0].split(",")
    assert (node, cause) == ("off-bus-000", "device")
    assert 1_793_610_000 < float(start) < float(end) < 1_793_610_000 + 0.3 * 86_400 + 3_601


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--start", "yesterday"],
            "--start yesterday: expected a time such as 2026-01-01T00:00:00Z",
        ),
        (["--start", "2026-01-01T00:00:00"], "expected an offset or Z at its end"),
        (["--label", "a-b=c"], "--label a-b=c: expected NAME=VALUE"),
        (
            ["--field", "3", "--scenario", "healthy"],
            "expected no --scenario or --mended beside it",
        ),
        (["--field", "3", "--mended", "0.5"], "expected no --scenario or --mended beside it"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "--out", str(tmp_path / "x.om"), *SHORT, *arguments]) == 2
    complaint = capsys.readouterr().err
    assert expected in complaint
    assert complaint.count("\n") == 1


def test_label_values_are_escaped() -> None:
    assert escaped('a\\b"c\nd') == 'a\\\\b\\"c\\nd'


class Screen:
    """A stream that may be a terminal."""

    def __init__(self, terminal: bool) -> None:
        self.text, self.terminal = "", terminal

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


def test_progress_is_told_now_and_then_and_at_the_end() -> None:
    now, screen = [0.0], Screen(terminal=False)
    progress = Progress("recorded", 100, screen, lambda: now[0])  # type: ignore[arg-type]
    for _ in range(100):
        now[0] += 0.1
        progress.step()
    lines = screen.text.splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("recorded: 2")
    assert lines[-1] == "recorded: 100 of 100, 10 s, 0 s to go"


def test_progress_on_a_terminal_is_one_line_written_over() -> None:
    screen = Screen(terminal=True)
    ticks = iter(range(0, 100, 5))
    progress = Progress("recorded", 2, screen, lambda: float(next(ticks)))  # type: ignore[arg-type]
    progress.step()
    progress.step()
    assert screen.text.count("\r") == 2
    assert screen.text.count("\n") == 1
