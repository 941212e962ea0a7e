"""The page, held against recorded bodies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from simulator.endpoints.counter_list import FAMILIES
from simulator.endpoints.dcgm import gpu_uuid, page
from simulator.endpoints.pods import Pod
from tests.simulator.endpoints.readings import SEED, reading_at, training_now
from tests.simulator.histories import HOUR, fault

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = re.compile(r"^(\w+)\{(.*)\} (\S+)$")
LABEL = re.compile(r'(\w+)="([^"]*)"')
Samples = dict[tuple[str, str], tuple[dict[str, str], str]]


def samples(body: str) -> Samples:
    """(family, gpu) → labels and value text."""
    found: Samples = {}
    for line in body.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.match(line)
            assert match is not None, line
            labels = dict(LABEL.findall(match[2]))
            found[match[1], labels["gpu"]] = labels, match[3]
    return found


@pytest.fixture(scope="module")
def busy() -> Samples:
    return samples(page(training_now(), SEED))


def test_every_family_was_seen_in_a_recorded_body_or_is_listed_by_research(
    shared_data: Path,
) -> None:
    """Two are in no recorded body but on the recommended list."""
    recorded = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((shared_data / "dcgm").glob("*.prom"))
    )
    names = {match[1] for match in re.finditer(r"^# TYPE (\w+)", recorded, re.MULTILINE)}
    unseen = {family.name for family in FAMILIES} - names
    assert unseen <= {"DCGM_FI_DEV_POWER_MGMT_LIMIT", "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE"}


def test_types_and_help_are_those_of_recorded_bodies(shared_data: Path) -> None:
    recorded = (shared_data / "dcgm" / "46-recommended-set-thermal-stress.prom").read_text(
        encoding="utf-8"
    )
    lines = set(page(training_now(), SEED).splitlines())
    for line in recorded.splitlines():
        if line.startswith(("# TYPE", "# HELP")) and any(f.name in line for f in FAMILIES):
            assert line in lines


def test_labels_come_in_the_order_of_a_recorded_busy_board(shared_data: Path) -> None:
    recorded = (shared_data / "dcgm" / "19-h100-before-loss.prom").read_text(encoding="utf-8")
    wanted = next(line for line in recorded.splitlines() if not line.startswith("#"))
    shown = next(
        line
        for line in page(training_now(), SEED).splitlines()
        if line.startswith("DCGM_FI_DEV_SM_CLOCK{")
    )
    assert [name for name, _ in LABEL.findall(shown)] == [n for n, _ in LABEL.findall(wanted)]


def test_an_xid_carries_its_code_and_text_as_recorded(shared_data: Path) -> None:
    recorded = (shared_data / "dcgm" / "20-h100-after-xid79-loss.prom").read_text(encoding="utf-8")
    wanted = next(
        line
        for line in recorded.splitlines()
        if line.startswith("DCGM_FI_DEV_XID") and "79" in line
    )
    body = page(reading_at(5.1 * HOUR, fault("thermal-interface")), SEED)
    labels, value = samples(body)["DCGM_FI_DEV_XID_ERRORS", "2"]
    assert value == "79"
    assert list(labels) == [name for name, _ in LABEL.findall(wanted)]
    assert labels["err_msg"] == dict(LABEL.findall(wanted))["err_msg"]


def test_the_page_parses_as_prometheus_text_and_has_every_family(busy: Samples) -> None:
    families = list(text_string_to_metric_families(page(training_now(), SEED)))
    assert {family.name for family in families} >= {
        family.name for family in FAMILIES if "XID" not in family.name
    }
    assert {gpu for _, gpu in busy} == {str(gpu) for gpu in range(8)}


def test_integers_are_digits_and_other_numbers_have_six_decimals(busy: Samples) -> None:
    for family in FAMILIES:
        if (family.name, "0") in busy:
            pattern = r"-?\d+" if family.whole else r"\d+\.\d{6}"
            assert re.fullmatch(pattern, busy[family.name, "0"][1]), family.name


@pytest.mark.parametrize(
    ("family", "channel", "scale"),
    [
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu_energy_joules_total", 1e3),
        ("DCGM_FI_DEV_POWER_USAGE", "gpu_power_watts", 1.0),
        ("DCGM_FI_DEV_SM_CLOCK", "gpu_sm_clock_hertz", 1e-6),
        ("DCGM_FI_DEV_GPU_UTIL", "gpu_utilization_ratio", 100.0),
        ("DCGM_FI_DEV_POWER_VIOLATION", "gpu_power_violation_seconds_total", 1e9),
        ("DCGM_FI_PROF_DRAM_ACTIVE", "gpu_memory_active_ratio", 1.0),
    ],
)
def test_values_are_the_readings_in_the_units_of_dcgm(
    busy: Samples, family: str, channel: str, scale: float
) -> None:
    shown = [float(busy[family, str(gpu)][1]) for gpu in range(8)]
    np.testing.assert_allclose(shown, training_now().gpu(channel) * scale, atol=0.51, rtol=1e-9)


def test_a_lost_gpu_leaves_the_body_but_for_its_latched_xid() -> None:
    shown = samples(page(reading_at(5.1 * HOUR, fault("thermal-interface")), SEED))
    assert {family for family, gpu in shown if gpu == "2"} == {"DCGM_FI_DEV_XID_ERRORS"}
    assert ("DCGM_FI_DEV_GPU_TEMP", "3") in shown
    assert "pod" not in shown["DCGM_FI_DEV_GPU_TEMP", "3"][0]


def test_reload_empties_the_page() -> None:
    scenario = fault("driver-reload", duration_seconds=1_800.0)
    assert page(reading_at(1.25 * HOUR, scenario), SEED) == ""
    assert page(reading_at(1.4 * HOUR, scenario), SEED) != ""


def test_heat_sets_the_slowdown_bits_and_a_cap_sets_its_own() -> None:
    hot = samples(page(reading_at(4.9 * HOUR, fault("thermal-interface", severity=1.0)), SEED))
    assert int(hot["DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "2"][1]) & 32
    assert not int(hot["DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "3"][1]) & 32
    capped = samples(page(reading_at(3 * HOUR, fault("power-capping")), SEED))
    assert int(capped["DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "0"][1]) == 4


def test_an_identity_is_stable_and_its_own() -> None:
    identities = {gpu_uuid(SEED, "n1", gpu) for gpu in range(8)} | {gpu_uuid(SEED, "n2", 0)}
    assert len(identities) == 9
    assert gpu_uuid(SEED, "n1", 0) in identities
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", identities.pop())


def test_pods_may_be_named_by_whoever_places_them() -> None:
    body = page(training_now(), SEED, lambda reading, gpu: Pod("ns", f"{reading.node}-{gpu}"))
    labels, _ = samples(body)["DCGM_FI_DEV_GPU_TEMP", "4"]
    assert (labels["namespace"], labels["pod"], labels["container"]) == ("ns", "n1-4", "main")
