"""The layers between window and probability, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model import schema
from model.schema import Cause
from model.training.network.evidence import Evidence, Gather, squash
from model.training.network.graph import Graph, within
from model.training.network.hazard import CAUSES, GPU_CAUSES, NODE_CAUSES, HazardLayer
from model.training.network.memory import Memory
from model.training.network.scaling import Scaling
from simulator.instruments.shown import SHOWN

NAMES = list(SHOWN)
NAN = float("nan")


def blank(gpus: int) -> torch.Tensor:
    return torch.full((gpus, schema.WINDOW_STEPS, len(NAMES)), NAN)


def column(name: str) -> int:
    return NAMES.index(name)


@pytest.fixture
def graph() -> Graph:
    torch.manual_seed(3)
    return Graph(NAMES).eval()


def feature(graph: Graph, window: torch.Tensor, name: str) -> list[float]:
    with torch.no_grad():
        _, evidence = graph.observe(window)
    return [round(v, 5) for v in evidence.values[:, graph.gather.features.index(name)].tolist()]


def test_a_node_channel_reaches_the_row_of_a_lost_gpu() -> None:
    window = blank(3)
    window[:2, :, column("node_power_watts")] = 4_000.0
    shared = Scaling(NAMES).share_node_channels(window)
    assert (shared[2, :, column("node_power_watts")] == 4_000.0).all()
    assert torch.isnan(shared[:, :, column("gpu_power_watts")]).all()


def test_ranges_are_told_of_physical_quantities_within_what_is_possible() -> None:
    scaling = Scaling(NAMES)
    for name, centre, scale in (
        ("gpu_temperature_celsius", 50.0, 10.0),
        ("gpu_utilization_ratio", 0.5, 0.4),
        ("gpu_memory_clock_hertz", 2e9, 1.0),
    ):
        scaling.centre[column(name)] = centre
        scaling.scale[column(name)] = scale
    ranges = scaling.ranges()
    assert ranges["gpu_temperature_celsius"] == (10.0, 90.0)
    assert ranges["gpu_utilization_ratio"] == (0.0, 1.0)
    assert ranges["gpu_memory_clock_hertz"] == (1.96e9, 2.04e9)
    for evidence in ("gpu_xid_code", "gpu_pcie_replays_total", "node_power_supplies_failed"):
        assert evidence not in ranges


@pytest.mark.parametrize(
    ("code", "level"), [(79.0, 1.0), (63.0, 0.5), (31.0, 0.0), (0.0, 0.0), (NAN, 0.0)]
)
def test_error_codes_weigh_by_the_action_they_call_for(code: float, level: float) -> None:
    """Codes of applications are never evidence against the hardware."""
    window = blank(1)
    window[..., column("gpu_xid_code")] = code
    plain, _ = Scaling(NAMES).transform(window)
    assert plain[0, -1, column("gpu_xid_code")] == level


def test_peers_are_compared_with_the_median_of_those_that_report(graph: Graph) -> None:
    window = blank(4)
    for gpu, celsius in enumerate((50.0, 52.0, 57.0)):
        window[gpu, :, column("gpu_temperature_celsius")] = celsius
    graph.scaling.scale[column("gpu_temperature_celsius")] = 10.0
    graph.scaling.centre[column("gpu_temperature_celsius")] = 50.0
    expected = squash(torch.tensor([-0.2, 0.0, 0.5, 0.0])).tolist()
    assert feature(graph, window, "peer:gpu_temperature_celsius") == pytest.approx(
        expected, abs=1e-4
    )


def test_an_even_number_of_peers_is_split_in_the_middle(graph: Graph) -> None:
    window = blank(2)
    window[0, :, column("gpu_power_watts")] = 1.0
    window[1, :, column("gpu_power_watts")] = 2.0
    half = float(squash(torch.tensor(0.5)))
    assert feature(graph, window, "peer:gpu_power_watts") == pytest.approx([-half, half], abs=1e-4)


def test_a_gpu_is_lost_only_while_a_sibling_reports(graph: Graph) -> None:
    window = blank(3)
    assert feature(graph, window, "lost") == [0.0, 0.0, 0.0]
    window[:2, :, column("gpu_power_watts")] = 300.0
    window[2, :, column("gpu_xid_code")] = 79.0
    assert feature(graph, window, "lost") == [0.0, 0.0, 1.0]
    window[2, :-4, column("gpu_power_watts")] = 300.0
    assert feature(graph, window, "lost") == [0.0, 0.0, 1.0]
    window[2, :-1, column("gpu_power_watts")] = 300.0
    assert feature(graph, window, "lost") == [0.0, 0.0, 0.0]


def test_thermal_resistance_is_the_same_under_any_load(graph: Graph) -> None:
    """60 °C at 600 W and 45 °C at 300 W over coolant of 30 °C are one resistance."""
    window = blank(4)
    window[..., column("node_coolant_supply_temperature_celsius")] = 30.0
    for gpu, (celsius, watts) in enumerate([(60.0, 600.0), (45.0, 300.0), (75.0, 600.0)]):
        window[gpu, :, column("gpu_temperature_celsius")] = celsius
        window[gpu, :, column("gpu_power_watts")] = watts
    window[3, :, column("gpu_temperature_celsius")] = 33.0
    window[3, :, column("gpu_power_watts")] = 70.0
    level = float(squash(torch.log(torch.tensor(0.05))))
    hotter = float(squash(torch.log(torch.tensor(1.5))))
    own = feature(graph, window, "resistance:gpu_temperature_celsius")
    assert own[:2] == pytest.approx([level, level], abs=1e-4)
    peer = feature(graph, window, "peer-resistance:gpu_temperature_celsius")
    assert peer == pytest.approx([0.0, 0.0, hotter, 0.0], abs=1e-4)


def test_counters_enter_as_what_was_counted(graph: Graph) -> None:
    window = blank(1)
    window[0, :, column("gpu_pcie_replays_total")] = 0.0
    window[0, 10, column("gpu_pcie_replays_total")] = 3.0
    window[0, -5, column("gpu_pcie_replays_total")] = 4.0
    assert feature(graph, window, "recent:gpu_pcie_replays_total") == [round(np.log1p(4.0), 5)]
    assert feature(graph, window, "hour:gpu_pcie_replays_total") == [round(np.log1p(7.0), 5)]


def test_memory_halves_in_its_half_life_and_holds_what_it_cannot_see() -> None:
    features = Gather(NAMES).features
    memory = Memory(features)
    state = torch.ones((1, memory.width))
    quiet = torch.zeros((1, len(features)))
    for _ in range(60):
        state = memory(Evidence(quiet, quiet + 1), state)
    by_name = dict(zip(memory.features, memory.read(state)[0].tolist(), strict=True))
    assert by_name["1h score"] == pytest.approx(0.5, abs=1e-4)
    assert by_name["6h score"] == pytest.approx(0.5 ** (1 / 6), abs=1e-4)
    unseen = memory(Evidence(quiet + 9, quiet), state)
    assert torch.equal(unseen, state)


def test_a_drift_is_told_against_the_own_past_however_short_it_is() -> None:
    features = Gather(NAMES).features
    memory = Memory(features)
    name = "level:node_bus_voltage_volts"
    at, told = features.index(name), memory.features.index(f"drift 1h-24h {name}")
    state, values = torch.zeros((1, memory.width)), torch.zeros((1, len(features)))
    values[0, [features.index("alive"), features.index("watched")]] = 1.0
    values[0, at] = 2.0
    seen = torch.ones_like(values)
    for hours, expected in ((0.2, 0.0), (3.0, 0.0), (60.0, 0.0)):
        state = memory(Evidence(values, seen), state, 60.0 * hours)
        assert float(memory.read(state)[0, told]) == pytest.approx(expected, abs=1e-4)
    values[0, at] = 1.0
    state = memory(Evidence(values, seen), state, 240.0)
    assert float(memory.read(state)[0, told]) < -0.7
    unseen = memory(Evidence(values * 0.0, seen * 0.0), state, 240.0)
    assert torch.equal(memory.read(unseen), memory.read(state))


def test_many_steps_at_once_equal_one_by_one() -> None:
    features = Gather(NAMES).features
    memory = Memory(features)
    evidence = Evidence(torch.rand(2, len(features)), torch.ones(2, len(features)))
    state = torch.rand(2, memory.width)
    strode = memory(evidence, state, 20)
    for _ in range(20):
        state = memory(evidence, state)
    assert torch.allclose(strode, state, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-7, 1e-3, 0.3, 20.0])
def test_probability_is_one_minus_the_exponential_of_the_summed_hazard(scale: float) -> None:
    hazard = torch.rand(50, 4) * scale
    exact = -np.expm1(-np.cumsum(hazard.double().numpy(), -1))
    got = within(hazard).numpy()
    np.testing.assert_allclose(got, exact, rtol=2e-5)
    assert (np.diff(got, axis=-1) >= 0).all()
    assert got.max() <= 1.0


def test_without_evidence_the_base_rate_is_told_and_may_be_set_anew() -> None:
    features = Gather(NAMES).features
    layer = HazardLayer((*features, *Memory(features).features))
    layer.requires_grad_(False)
    layer.gpu.learned.zero_()
    layer.node.learned.zero_()
    evidence = Evidence(torch.zeros(8, len(features)), torch.ones(8, len(features)))
    state = torch.zeros(8, Memory(features).width)
    week = 0.027 * 72 / 168
    hazards = layer(evidence, Memory(features).read(state))
    assert float(hazards.gpu.sum() + hazards.node.sum()) == pytest.approx(week, rel=1e-4)
    layer.base_rate_log += np.log(2.0)
    doubled = layer(evidence, Memory(features).read(state))
    assert float(doubled.gpu.sum() + doubled.node.sum()) == pytest.approx(2 * week, rel=1e-4)


def test_a_cause_reads_only_what_physics_gives_it() -> None:
    layer = HazardLayer(Gather(NAMES).features)
    features = Gather(NAMES).features
    memory = layer.gpu.relevant[GPU_CAUSES.index(Cause.MEMORY) * layer.gpu.hidden]
    assert memory[features.index("hour:gpu_memory_correctable_errors_total")] == 1
    assert memory[features.index("peer:gpu_temperature_celsius")] == 0
    assert set(GPU_CAUSES) | set(NODE_CAUSES) == set(CAUSES)
