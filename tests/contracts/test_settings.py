"""Every settings file that ships loads in the service that it is for, and hides no duration."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.__main__ import main as exporter
from remediation.__main__ import main as remediation

CONFIG = Path(__file__).resolve().parents[2] / "deploy" / "config"
SERVICES: dict[str, Callable[[], int | None]] = {
    "exporter": exporter,
    "facility": exporter,
    "remediation": remediation,
}
MODES = {"facility": ["--facility"]}
"""What a command must be told to be the service."""
FILES = sorted(CONFIG.glob("*.yml"))


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Path], int | None]:
    """Run a service's command with --check-config; returns its exit status."""
    monkeypatch.setenv("NODE_NAME", "n1")

    def run(name: str, path: Path) -> int | None:
        # What ships names files of a pod, which are not here.
        checking = ["--config", str(path), "--check-config", "--no-files"]
        monkeypatch.setattr(sys, "argv", [name, *MODES.get(name, []), *checking])
        return SERVICES[name]()

    return run


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_check_config_accepts(path: Path, check: Callable[[str, Path], int | None]) -> None:
    assert not check(path.name.partition(".")[0], path)


@pytest.mark.parametrize("name", SERVICES)
def test_check_config_refuses_what_is_not_a_setting(
    name: str,
    tmp_path: Path,
    check: Callable[[str, Path], int | None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "wrong.yml"
    path.write_text("log: {}\nno_such_key: 1\n")
    assert check(name, path) == 78
    told = capsys.readouterr().err
    assert f"{path}: line 2: unknown key `no_such_key`, expected one of " in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("name", SERVICES)
def test_a_wrong_command_line_is_told_from_wrong_settings(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--no-such-option"])
    with pytest.raises(SystemExit, match=r"^2$"):
        SERVICES[name]()
    assert "--no-such-option" in capsys.readouterr().err


TLS = "{certificate: /nowhere/tls.crt, key: /nowhere/tls.key}"
LISTENERS = {
    "exporter": f"node: n1\nlisten: {{port: 0, tls: {TLS}}}",
    "remediation": f"kubernetes: {{kubeconfig: KUBECONFIG}}\nwebhook: {{port: 0, tls: {TLS}}}",
}
KUBECONFIG = """\
{apiVersion: v1, kind: Config, current-context: c,
 clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}],
 contexts: [{name: c, context: {cluster: c, user: u}}],
 users: [{name: u, user: {token: t}}]}
"""


@pytest.mark.scenario
@pytest.mark.parametrize("name", LISTENERS)
def test_a_certificate_that_is_not_there_ends_the_start_as_wrong_settings_do(
    name: str, tmp_path: Path
) -> None:
    path, cluster = tmp_path / "settings.yml", tmp_path / "kubeconfig.yml"
    cluster.write_text(KUBECONFIG)
    path.write_text(LISTENERS[name].replace("KUBECONFIG", str(cluster)))
    line = [sys.executable, "-m", name, "--config", str(path)]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 78
    assert "Traceback" not in ended.stderr
    assert "/nowhere/tls.crt" in ended.stderr.splitlines()[-1]


def keys(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield str(key)
            yield from keys(value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_duration_says_its_unit(path: Path) -> None:
    """Compressed time divides what ends in `_seconds`, so nothing else may be a duration."""
    suspicious = re.compile(
        r"(timeout|interval|duration|deadline|period|delay|age|ttl|_ms|minutes)$"
    )
    assert not [key for key in keys(yaml.safe_load(path.read_text())) if suspicious.search(key)]
