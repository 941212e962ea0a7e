"""The simulator held against recordings: distances, pictures, tables, clear refusals."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from simulator.calibration.comparison import QUANTITIES, gap
from simulator.calibration.picture import draw
from simulator.calibration.recorded import Sample
from simulator.calibration.simulated import Nodes, healthy_nodes
from simulator.cli import run

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def nodes() -> Nodes:
    return Nodes(healthy_nodes(24, 720, 7))


def test_the_gap_is_the_largest_difference_of_the_distributions() -> None:
    even = np.arange(100.0)
    assert gap(even, even) == 0
    assert gap(even, even + 25.0) == pytest.approx(0.25)
    assert gap(even, even + 1_000.0) == 1


def test_a_picture_has_one_line_per_source_and_says_whose_it_is() -> None:
    rng = np.random.default_rng(1)
    samples = [Sample("site <A>", rng.normal(0, 1, 500)), Sample("site B", rng.normal(1, 1, 500))]
    picture = ET.fromstring(draw("Heat", "°C", samples, Sample("ours", np.arange(9.0))))  # noqa: S314
    lines = picture.findall(f"{SVG}polyline")
    assert len(lines) == 3
    assert [line.get("stroke-dasharray") is not None for line in lines] == [False, False, True]
    words = {text.text for text in picture.iter(f"{SVG}text")}
    assert {"Heat", "°C", "site <A>", "site B", "ours"} <= words


def test_boards_at_work_are_as_warm_as_recorded_ones(nodes: Nodes, shared_data: Path) -> None:
    """Loose bounds: another board, cooled in another way, must not be another world."""
    for quantity, tolerance in (("gpu_core_celsius", 12), ("gpu_memory_celsius", 12)):
        ours = float(np.quantile(getattr(nodes, quantity)().values, 0.9))
        read = next(one.read for one in QUANTITIES if one.name == quantity)
        real = [float(np.quantile(one.values, 0.9)) for one in read(shared_data / "telemetry")]
        assert min(real) - tolerance < ours < max(real) + tolerance, quantity


def test_a_cluster_of_simulated_nodes_rests_as_long_as_a_real_one(
    nodes: Nodes, shared_data: Path
) -> None:
    read = next(one.read for one in QUANTITIES if one.name == "gpu_utilization_ratio")
    real = [float((one.values < 0.02).mean()) for one in read(shared_data / "telemetry")]
    ours = float((nodes.gpu_utilization_ratio().values < 0.02).mean())
    assert min(real) - 0.15 < ours < max(real) + 0.15


def test_calibrate_writes_a_picture_per_quantity_and_the_quantiles(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(shared_data / "telemetry")
    arguments = [
        "calibrate",
        "--data",
        data,
        "--out",
        str(tmp_path),
        "--nodes",
        "6",
        "--days",
        "0.2",
    ]
    assert run(arguments) == 0
    assert {path.stem for path in tmp_path.glob("*.svg")} == {one.name for one in QUANTITIES}
    text = (tmp_path / "quantiles.md").read_text(encoding="utf-8")
    assert all(one.title in text for one in QUANTITIES)
    assert "| 31 | 18.3" in text
    assert "pictures and quantiles.md" in capsys.readouterr().out


def test_a_folder_without_the_recordings_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["calibrate", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "expected the folders acme_cdf" in said
    assert "missing: acme_cdf" in said
