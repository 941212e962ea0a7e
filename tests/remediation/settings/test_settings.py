"""The settings file: every default documented, every mistake one line with its path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from daemon.settings import SettingsError, load, parse
from remediation.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "deploy/config/remediation.example.yml"


def keys(document: Any, prefix: str = "") -> set[str]:
    if not isinstance(document, dict) or not document:
        return {prefix}
    return {key for name, value in document.items() for key in keys(value, f"{prefix}.{name}")}


def test_the_example_is_the_defaults_and_names_every_key() -> None:
    assert load(EXAMPLE, Settings) == Settings()
    written = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    assert keys(written) == keys(msgspec.to_builtins(Settings()))


def test_the_promised_defaults() -> None:
    policy = Settings().policy
    assert policy.mode == "observe"
    assert (policy.limits.concurrency, policy.limits.unavailable_nodes) == (2, 5)
    assert policy.limits.unavailable_percent == 10
    assert (policy.limits.token_burst, policy.limits.token_refill_seconds) == (2, 600)
    assert policy.limits.breaker_grants == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("mode: exclude", "unknown key `mode`", id="key-at-the-wrong-place"),
        pytest.param("policy: {mode: full}", "Invalid enum value 'full'", id="unknown-mode"),
        pytest.param(
            "policy: {limits: {concurency: 1}}", "`concurency` - at `$.policy.limits`", id="typo"
        ),
        pytest.param(
            "policy: {limits: {concurrency: 0}}", "expected at least 1", id="nothing-allowed"
        ),
        pytest.param(
            "policy: {limits: {unavailable_percent: 150}}", "at most 100 percent", id="percent"
        ),
        pytest.param("policy: {ceilings: {memory: all}}", "$.policy.ceilings", id="ceiling"),
        pytest.param(
            "policy: {evidence: {critical_probability: 30}}", "between 0 and 1", id="probability"
        ),
        pytest.param("policy: {release: {soak_seconds: -1}}", "more than 0 seconds", id="soak"),
        pytest.param("pool: {selector: ''}", "empty never means all", id="empty-selector"),
        pytest.param("pool: {gpu_resources: ['']}", "gpu_resources is empty", id="no-resource"),
        pytest.param("webhook: {port: 70000}", "expected 0 to 65535", id="port"),
        pytest.param("prometheus: {url: prometheus:9090}", "expected http://", id="no-scheme"),
        pytest.param("lease: {retry_seconds: 10}", "a third of duration_seconds", id="lease"),
        pytest.param(
            "kubernetes: {request_timeout_seconds: 6}", "a third of the lease", id="timeout"
        ),
        pytest.param("webhook: {port: 9479}", "port are both 9479, expected two", id="one-port"),
        pytest.param(
            "policy: {evidence: {warning_probability: 0.5}}",
            "expected at most critical_probability (0.3)",
            id="warning-after-critical",
        ),
        pytest.param("webhook: {token: abc}", "unknown key `token`", id="secret-in-the-file"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_was_expected(text: str, complaint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse(text, Settings, origin="remediation.yml")
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("remediation.yml: ")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("scale", [2, 10, 60, 600])
def test_compressed_copies_stay_valid(scale: float) -> None:
    def compressed(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: inner / scale if name.endswith("_seconds") else compressed(inner)
            for name, inner in value.items()
        }

    document = compressed(yaml.safe_load(EXAMPLE.read_text("utf-8")))
    settings = parse(yaml.safe_dump(document), Settings, origin="compressed")
    assert settings.lease.whole_seconds >= 3
    assert settings.kubernetes.timeout * 3 <= settings.lease.whole_seconds
    assert settings.lease.retry * 3 <= settings.lease.whole_seconds


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "remediation", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=30,
    )


@pytest.mark.scenario
def test_the_command_checks_a_file_without_starting(tmp_path: Path) -> None:
    good = run("--config", str(EXAMPLE), "--check-config", "--no-files")
    assert (good.returncode, good.stdout.strip()) == (0, f"{EXAMPLE}: ok, mode observe")
    named = run("--config", str(EXAMPLE), "--check-config")
    assert named.returncode == 78
    assert "webhook.token_file: /etc/forewarn/webhook/token: no such file" in named.stderr
    bad = tmp_path / "bad.yml"
    bad.write_text("policy: {mode: full}", "utf-8")
    refused = run("--config", str(bad))
    assert refused.returncode == 78
    (line,) = refused.stderr.splitlines()
    assert line == (
        f"forewarn-remediation: {bad}: line 1: Invalid enum value 'full' - at `$.policy.mode`, "
        "expected one of observe, exclude, migrate"
    )


@pytest.mark.scenario
def test_without_a_cluster_to_talk_to_the_start_fails_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "r.yml"
    path.write_text("kubernetes: {kubeconfig: /nowhere}\nlog: {style: json}", "utf-8")
    refused = run("--config", str(path))
    assert refused.returncode == 69
    (line,) = refused.stderr.splitlines()
    assert "/nowhere" in line
