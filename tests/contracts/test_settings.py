"""Every settings file that ships loads in the service that it is for, and hides no duration."""

from __future__ import annotations

import re
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
    path.write_text("no_such_key: 1\n")
    assert check(name, path)
    assert "no_such_key" in capsys.readouterr().err


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
