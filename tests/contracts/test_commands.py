"""Every command says its version and teaches."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable

import pytest

from daemon.version import version
from exporter.__main__ import main as exporter
from model.cli import main as model
from remediation import program as remediation_command
from remediation.__main__ import main as remediation
from simulator.__main__ import main as simulator
from tests.contracts.catalogues import ROOT

COMMANDS: dict[str, Callable[[], int | None]] = {
    "forewarn-exporter": exporter,
    "forewarn-model": model,
    "forewarn-remediation": remediation,
    "forewarn-simulator": simulator,
}

TEXTS = (ROOT / "deploy" / "README.md", *sorted((ROOT / "alerts" / "runbooks").glob("*.md")))
IN_THE_POD = re.compile(
    r"kubectl -n forewarn exec deploy/forewarn-remediation --"
    r" /opt/forewarn/bin/forewarn-remediation ([^`\n]+)"
)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_its_version(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--version"])
    with pytest.raises(SystemExit) as end:
        COMMANDS[name]()
    assert end.value.code == 0
    assert capsys.readouterr().out == f"{name} {version()}\n"


def test_what_texts_have_people_type_into_the_pod_is_understood_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed = [line for text in TEXTS for line in IN_THE_POD.findall(text.read_text())]
    found = {}
    for line in typed:
        monkeypatch.setattr(sys, "argv", ["forewarn-remediation", *shlex.split(line)])
        arguments = vars(remediation_command._arguments())
        # A user in a container has no name: an order without an author is refused there.
        assert arguments.get("author", "") is not None, line
        found[arguments["command"]] = line
    assert found.keys() >= {"status", "explain", "pause", "resume"}
    for text in TEXTS:
        assert "POST /api" not in text.read_text(), f"{text.name}: there is a command for it"
