"""The Dockerfile: lint, and its steps run in a clean environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.exporter import IMAGE_ENVIRONMENT
from tests.deploy.dockerfile import Builder, Stage, entry_point, stages

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text()
STAGES = stages(TEXT)
PROGRAMS = {
    "exporter": "forewarn-exporter",
    "remediation": "forewarn-remediation",
    "training": "forewarn-model",
}


def test_the_lint_of_this_file_reads_every_instruction() -> None:
    known = {"ENV", "WORKDIR", "COPY", "RUN", "LABEL", "USER", "EXPOSE", "ENTRYPOINT"}
    assert {keyword for stage in STAGES.values() for keyword, _ in stage.steps} <= known


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda stage: stage.name)
def test_a_base_has_a_version_and_names_no_host(stage: Stage) -> None:
    if stage.base not in STAGES:
        assert re.fullmatch(r"python:3\.\d+-slim", stage.base)


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda stage: stage.name)
def test_what_is_installed_is_hashed_or_ours(stage: Stage) -> None:
    for command in stage.values("RUN"):
        assert "curl" not in command
        assert "http" not in command
        if " install " in command:
            assert "--require-hashes" in command or "--no-index --no-deps" in command


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda stage: stage.name)
def test_what_is_copied_exists_and_is_not_ignored(stage: Stage) -> None:
    ignore = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text()
    allowed = {line[1:] for line in ignore.splitlines() if line.startswith("!")}
    for copied in stage.values("COPY"):
        if copied.startswith("--from="):
            assert copied.split()[0].removeprefix("--from=") in STAGES
            continue
        for name in copied.split()[:-1]:
            assert (ROOT / name).exists(), name
            assert name in allowed or f"{Path(name).parent}/*{Path(name).suffix}" in allowed


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_image_runs_as_nobody_and_holds_no_build_tools(name: str) -> None:
    stage = STAGES[name]
    assert stage.values("USER") == ["65532:65532"]
    assert not stage.values("RUN")
    assert entry_point(stage) == f"/opt/forewarn/bin/{PROGRAMS[name]}"


def test_the_exporters_environment_is_the_one_that_is_measured() -> None:
    (value,) = STAGES["exporter"].values("ENV")
    assert dict([value.split("=")]) == IMAGE_ENVIRONMENT


@pytest.mark.scenario
@pytest.mark.parametrize(
    ("name", "absent"), [("exporter", "kubernetes"), ("remediation", "onnxruntime")]
)
def test_the_steps_of_an_image_make_a_program_that_checks_its_settings(
    name: str, absent: str, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "base"], check=True, timeout=120)
    (tmp_path / "src").mkdir()
    builder = Builder(ROOT, tmp_path, tmp_path / "base" / "bin" / "python")
    builder.run(STAGES[f"{name}-environment"], STAGES)

    python = tmp_path / "forewarn" / "bin" / "python"
    found = subprocess.run([python, "-c", f"import {absent}"], capture_output=True, check=False)
    assert found.returncode != 0, f"{absent} has no place in this image"
    assert not list((tmp_path / "forewarn" / "lib").rglob("pip")), "an image that can install"

    program = tmp_path / "forewarn" / "bin" / f"forewarn-{name}"
    settings = ROOT / "deploy" / "config" / f"{name}.cluster.yml"
    checked = subprocess.run(
        [program, "--config", settings, "--check-config", "--no-files"],
        env={**os.environ, "NODE_NAME": "n1", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stderr
