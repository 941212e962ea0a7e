"""The example names every default, and a mistake is one line with its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon import settings as files
from exporter.__main__ import main
from exporter.settings import Settings

EXAMPLE = Path(__file__).parents[3] / "deploy" / "config" / "exporter.example.yml"


def test_the_example_holds_the_defaults() -> None:
    assert files.load(EXAMPLE, Settings) == Settings()


def test_the_example_names_every_key() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    for section in Settings.__struct_fields__:
        default = getattr(Settings(), section)
        keys = getattr(default, "__struct_fields__", ())
        for key in (section, *keys):
            assert f"{key}:" in text, f"{section}.{key}"


@pytest.mark.parametrize(
    ("text", "expectation"),
    [
        ("nodes: n1", "unknown key `nodes`"),
        ("listen: {port: many}", "$.listen.port"),
        ("listen: {port: 70000}", "expected port from 0 to 65535"),
        ("dcgm: {interval_seconds: 0}", "expected interval_seconds above 0"),
        ("dcgm: {url: dcgm-exporter}", "expected url as"),
        ("dcgm: {url: 'http://127.0.0.1:99999'}", "http://<address>:9400/metrics: Port out of"),
        ("bmc: {url: 'https://[::1'}", "expected url as https://<BMC address>"),
        ("bmc: {url: 'https://bmc:0'}", "expected url as https://<BMC address>"),
        ("facility: {url: facility:9477}", "expected url as http://<facility exporter>:9477"),
        ("backfill: {url: 'ftp://p:9090'}", "expected url as http://<prometheus>:9090"),
        ("gpus: {expected: [GPU-a, GPU-a]}", "expected each GPU once, not 'GPU-a' twice"),
        ("window: {minimum_fill_ratio: 1.5}", "expected minimum_fill_ratio from 0 to 1"),
        ("window: {step_seconds: -1}", "expected step_seconds above 0"),
        ("gpus: {count: 8, expected: [GPU-a]}", "not both"),
        ("gpus: {count: 0}", "expected count of at least 1"),
        ("log: {level: loud}", "$.log.level"),
        ("bmc: {password: secret}", "unknown key `password`"),
        ("- a list", "Expected `object`"),
    ],
)
def test_a_mistake_is_one_line(
    text: str, expectation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text(text, encoding="utf-8")
    assert main(["--config", str(path), "--check-config"]) == 78
    said = capsys.readouterr().err
    assert expectation in said
    assert str(path) in said
    assert said.count("\n") == 1


def test_the_node_is_named_by_settings_or_environment_never_by_the_host() -> None:
    assert Settings(node="n1").node_name({"NODE_NAME": "n2"}) == "n1"
    assert Settings().node_name({"NODE_NAME": "n2"}) == "n2"
    with pytest.raises(ValueError, match="NODE_NAME"):
        Settings().node_name({"HOSTNAME": "pod-x"})


@pytest.mark.parametrize(
    "name", ["../../etc", "GPU-1", "gpu_1", "gpu-1\n", "a." * 126 + "ab", "-a"]
)
def test_a_node_has_the_name_of_a_node(name: str) -> None:
    assert Settings(node="gpu-01.rack2.example").node_name() == "gpu-01.rack2.example"
    with pytest.raises(ValueError, match=r"node: .*expected a node's name in Kubernetes"):
        Settings(node=name).node_name()


def test_settings_of_all_nodes_are_checked_without_a_node_where_their_files_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NODE_NAME", raising=False)
    path = tmp_path / "exporter.yml"
    path.write_text("bmc: {}", encoding="utf-8")
    assert main(["--config", str(path), "--check-config", "--no-files"]) == 0
    assert main(["--config", str(path), "--check-config"]) == 78
    told = f"forewarn-exporter: {path}: node: expected the node's name here or in $NODE_NAME\n"
    assert capsys.readouterr().err == told


def test_a_folder_of_models_that_is_not_there_or_has_a_bad_one_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, models = tmp_path / "exporter.yml", tmp_path / "models"
    path.write_text(f"node: n1\nmodel: {{directory: '{models}'}}", encoding="utf-8")
    line = ["--config", str(path), "--check-config"]
    assert main(line) == 78
    missing = f"{path}: model.directory: {models}: no such folder, expected one with n1.onnx"
    assert missing in capsys.readouterr().err
    models.mkdir()
    assert main(line) == 0
    (models / "fleet.onnx").write_text("no model")
    assert main(line) == 78
    assert f"model.directory: not_onnx: {models / 'fleet.onnx'}" in capsys.readouterr().err
    assert main([*line, "--no-files"]) == 0


def test_good_settings_are_said_to_be_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text("node: n1", encoding="utf-8")
    assert main(["--config", str(path), "--check-config"]) == 0
    assert capsys.readouterr().out == f"{path}: ok\n"


@pytest.mark.parametrize("mode", [[], ["--facility"]])
def test_files_that_are_named_and_not_there_are_told(
    mode: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exporter.yml"
    target = "targets: [{equipment: cdu-1, url: 'https://cdu-1'}]\n"
    node = target if mode else "node: n1\n"
    path.write_text(node + "listen: {token_file: /nowhere/token}", encoding="utf-8")
    assert main([*mode, "--config", str(path), "--check-config"]) == 78
    said = capsys.readouterr().err
    assert said == (
        f"forewarn-exporter: {path}: listen.token_file: /nowhere/token: "
        "no such file or directory, expected a readable file\n"
    )
    assert main([*mode, "--config", str(path), "--check-config", "--no-files"]) == 0


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "example:" in capsys.readouterr().out


def test_the_metrics_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-metrics"]) == 0
    assert "| `forewarn_node_failure_probability` | gauge |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("listen: {username_file: u}", "username_file and password_file together"),
        ("listen: {tls: {certificate: c}}", "key"),
        ("backfill: {url: 'prometheus:9090'}", "url as http://<prometheus>:9090"),
        ("backfill: {url: 'http://u:p@prometheus'}", "they live in files"),
        ("backfill: {token_file: t, username_file: u, password_file: p}", "either token_file"),
        ("backfill: {match: {'a-b': c}}", "'a-b'"),
        ("backfill: {deadline_seconds: 0}", "deadline_seconds above 0"),
        ("backfill: {steps_per_request: 0}", "steps_per_request of at least 1"),
    ],
)
def test_who_may_read_and_where_the_past_is_are_checked(text: str, expected: str) -> None:
    with pytest.raises(files.SettingsError, match=expected):
        files.parse(text, Settings, origin="test")
