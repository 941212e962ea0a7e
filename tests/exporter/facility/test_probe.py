"""What the probe of facility mode tells a person: every piece, what it says and what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporter.__main__ import main
from tests.exporter.facility.small_cdu import small_cdu
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, FakeBmc


@pytest.fixture
def cdu() -> Iterator[FakeBmc]:
    bmc = FakeBmc(small_cdu(), auth=True)
    yield bmc
    bmc.close()


@pytest.fixture
def probe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str]]:
    def run(text: str) -> tuple[int, str]:
        path = tmp_path / "facility.yml"
        path.write_text(text, encoding="utf-8")
        code = main(["--facility", "--config", str(path), "--probe"])
        return code, capsys.readouterr().out

    return run


def target(name: str, url: str, folder: Path, rack: str) -> str:
    (folder / "user").write_text(USER, encoding="utf-8")
    (folder / "password").write_text(PASSWORD, encoding="utf-8")
    return (
        f"{{equipment: {name}, url: '{url}', racks: [{rack}], username_file: '{folder}/user', "
        f"password_file: '{folder}/password'}}"
    )


def test_each_piece_is_told_with_what_it_says_and_the_session_is_ended(
    probe: Callable[[str], tuple[int, str]], cdu: FakeBmc, tmp_path: Path
) -> None:
    code, said = probe(f"targets: [{target('cdu-1', cdu.url, tmp_path, 'r1')}]\nracks: {{r1: []}}")
    assert code == 0
    assert "cdu-1, for rack r1" in said
    assert "read as walked in " in said
    assert " to find the way" in said
    assert "coolant_flow_liters_per_minute  120" in said
    assert cdu.opened == cdu.deleted == 1
    assert PASSWORD not in said


def test_a_piece_that_is_dead_has_its_hint_and_the_others_are_read(
    probe: Callable[[str], tuple[int, str]], cdu: FakeBmc, tmp_path: Path
) -> None:
    living = target("cdu-1", cdu.url, tmp_path, "r1")
    dead = target("pdu-1", "http://127.0.0.1:9", tmp_path, "r1")
    code, said = probe(f"targets: [{dead}, {living}]\nracks: {{r1: [], r9: [n1]}}")
    assert code == 1
    assert "no readings: unreachable" in said
    assert "127.0.0.1:9: connection refused, expected a Redfish service there" in said
    assert "coolant_flow_liters_per_minute  120" in said
    assert "Racks that no target names: r9" in said


def test_what_to_do_is_said_of_equipment_and_not_of_a_node(
    probe: Callable[[str], tuple[int, str]], cdu: FakeBmc, tmp_path: Path
) -> None:
    dead = target("pdu-1", "http://127.0.0.1:9", tmp_path, "r1")
    plain = target("cdu-1", cdu.url.replace("http:", "https:"), tmp_path, "r1")
    _, said = probe(f"targets: [{dead}, {plain}]\nracks: {{r1: []}}")
    assert "nobody listens there: is it running, are address and port right" in said
    assert "on this node" not in said
    assert "give the address with http:// in place of https://" in said
    assert "fingerprint" not in said


@pytest.mark.parametrize("mode", ["--probe", "--check-config"])
def test_without_targets_nothing_is_started(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facility.yml"
    path.write_text("racks: {}", encoding="utf-8")
    assert main(["--facility", "--config", str(path), mode]) == 78
    told = f"forewarn-exporter: {path}: targets: expected at least one, nothing is read\n"
    assert capsys.readouterr().err == told
