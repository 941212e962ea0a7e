"""Every command says its version and teaches."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from daemon.version import version
from exporter.__main__ import main as exporter
from model.cli import main as model
from remediation.__main__ import main as remediation
from simulator.__main__ import main as simulator

COMMANDS: dict[str, Callable[[], int | None]] = {
    "forewarn-exporter": exporter,
    "forewarn-model": model,
    "forewarn-remediation": remediation,
    "forewarn-simulator": simulator,
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_its_version(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--version"])
    with pytest.raises(SystemExit) as end:
        COMMANDS[name]()
    assert end.value.code == 0
    assert capsys.readouterr().out == f"{name} {version()}\n"
