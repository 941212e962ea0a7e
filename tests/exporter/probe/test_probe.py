"""What the probe tells a person who stands in front of a node that is blind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from daemon import reach
from exporter.__main__ import main
from exporter.probe import Finding, source
from exporter.readings import Reason, SourceFailed, SourceName
from exporter.sources import Named
from tests.exporter.app.bench import FakeDcgm, page
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, FakeBmc
from tests.exporter.redfish.small_tree import small_tree
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def dcgm() -> Iterator[FakeDcgm]:
    fake = FakeDcgm(lambda: page(A=61.0, B=80.0))
    yield fake
    fake.close()


@pytest.fixture
def bmc() -> Iterator[FakeBmc]:
    fake = FakeBmc(small_tree(), auth=True)
    yield fake
    fake.close()


@pytest.fixture
def probe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def run(**sections: str) -> tuple[int, str]:
        path = tmp_path / "exporter.yml"
        lines = [f"{name}: {text}" for name, text in sections.items()]
        path.write_text("\n".join(["node: n1", *lines]), encoding="utf-8")
        code = main(["--config", str(path), "--probe"])
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def bmc_section(tmp_path: Path, bmc: FakeBmc) -> str:
    (tmp_path / "user").write_text(USER, encoding="utf-8")
    (tmp_path / "password").write_text(PASSWORD, encoding="utf-8")
    return (
        f"{{url: '{bmc.url}', username_file: '{tmp_path / 'user'}', "
        f"password_file: '{tmp_path / 'password'}'}}"
    )


def test_both_sources_are_read_and_let_go(
    probe: Callable[..., tuple[int, str]], dcgm: FakeDcgm, bmc: FakeBmc, bmc_section: str
) -> None:
    code, said = probe(dcgm=f"{{url: '{dcgm.url}'}}", bmc=bmc_section)
    assert code == 0
    assert dcgm.requests == 1
    assert "requests: 1 a cycle" in said
    assert "GPUs: 2 seen of 2" in said
    assert "thermal_power" in said
    assert "to find the way" in said
    assert bmc.opened == bmc.deleted == 1
    assert PASSWORD not in said


def test_blind_channels_come_with_the_field_to_list(
    probe: Callable[..., tuple[int, str]], dcgm: FakeDcgm
) -> None:
    _, said = probe(dcgm=f"{{url: '{dcgm.url}'}}")
    assert "gpu_memory_uncorrectable_errors_total  DCGM_FI_DEV_ECC_DBE_VOL_TOTAL" in said
    assert "redfish, no_source: name the BMC in `bmc.url`" in said


def test_a_failure_is_named_with_what_to_do_and_the_other_source_is_still_read(
    probe: Callable[..., tuple[int, str]], bmc_section: str
) -> None:
    code, said = probe(dcgm="{url: 'http://127.0.0.1:9/metrics'}", bmc=bmc_section)
    assert code == 1
    assert "no readings: unreachable" in said
    assert "is it running on this node" in said
    assert "thermal_power" in said


def test_what_the_model_misses_comes_before_all_that_is_blind(
    probe: Callable[..., tuple[int, str]], dcgm: FakeDcgm, tmp_path: Path
) -> None:
    (tmp_path / "models").mkdir()
    artefact.write(tmp_path / "models" / "fleet.onnx", (artefact.TEMPERATURE, "node_power_watts"))
    _, said = probe(dcgm=f"{{url: '{dcgm.url}'}}", model=f"{{directory: '{tmp_path}/models'}}")
    headline = "Channels that the model (fleet.onnx) misses: 1 of 2\n  optional: node_power_watts\n"
    assert said.index(headline) < said.index("Blind channels: ")


def test_where_nothing_was_read_no_channel_is_listed(
    probe: Callable[..., tuple[int, str]],
) -> None:
    code, said = probe(dcgm="{url: 'http://127.0.0.1:9/metrics'}")
    assert code == 1
    assert said.endswith("Nothing was read: the model has no channel to predict from\n")


def test_a_host_that_nobody_knows_is_told_as_that() -> None:
    asked = Named(SimpleNamespace(name=SourceName.DCGM), "http://nowhere:9400", 30.0, 8.0)
    failure = SourceFailed(Reason.UNREACHABLE, f"http://nowhere:9400: {reach.UNKNOWN_HOST}")
    said = "\n".join(source(Finding(asked, 0.1, failure=failure)))
    assert "is the name spelt right" in said
    assert "nobody listens" not in said


def test_a_page_that_was_cut_says_where_and_is_no_success(
    probe: Callable[..., tuple[int, str]],
) -> None:
    """Half of what Content-Length promises; what was lost with the rest is nobody's counter."""
    body = page(A=61.0, B=80.0)[2]
    dcgm = FakeDcgm(lambda: (200, "text/plain", body[: len(body) // 2]), promised=len(body))
    try:
        code, said = probe(dcgm=f"{{url: '{dcgm.url}'}}")
    finally:
        dcgm.close()
    assert code == 1
    assert f"the page was cut at {len(body) // 2} of {len(body)} bytes" in said
    assert "gpu_power_watts  DCGM_FI_DEV_POWER_USAGE\n" in said
    assert "counter list" not in said


def test_a_page_that_fails_as_a_whole_is_quoted(
    probe: Callable[..., tuple[int, str]], dcgm: FakeDcgm
) -> None:
    dcgm.answer = lambda: (500, "text/plain", b"collected before with the same labels\nmore")
    _, said = probe(dcgm=f"{{url: '{dcgm.url}'}}")
    assert "status 500, expected 200; it says: collected before with the same labels" in said
    assert "one sick GPU or switch" in said


def test_the_first_generation_is_refused_with_what_to_run(
    probe: Callable[..., tuple[int, str]], dcgm: FakeDcgm
) -> None:
    dcgm.answer = lambda: (200, "text/plain", b'dcgm_gpu_temp{gpu="0",uuid="GPU-a"} 61\n')
    code, said = probe(dcgm=f"{{url: '{dcgm.url}'}}")
    assert code == 1
    assert "run dcgm-exporter 2.0 or later" in said


def test_a_node_without_any_source_is_no_success(probe: Callable[..., tuple[int, str]]) -> None:
    code, said = probe(dcgm="{url: ''}")
    assert code == 1
    assert "dcgm, no_source: name dcgm-exporter's page in `dcgm.url`" in said


def test_an_address_with_a_password_is_refused_before_anything_is_asked(
    probe: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = probe(dcgm="{url: 'http://me:hidden@127.0.0.1:9/metrics'}")
    assert code == 78
    assert "hidden" not in said + capsys.readouterr().err
