"""What documents and help have people type is understood by the commands as they are."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator

import pytest

from exporter import cli as exporter
from model import cli as model
from model import judging
from simulator import cli as simulator
from simulator.demo import cli as demo
from tests.contracts.catalogues import ROOT
from tests.contracts.test_paths import DOCUMENTS

FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^ *(?:\$ )?((forewarn-(?:model|simulator|exporter)) .*)$", re.MULTILINE)
HELP = {
    "forewarn-model --help": model.EXAMPLE,
    "forewarn-model evaluate --help": judging.EVALUATE_EXAMPLE,
    "forewarn-model leave-each-out --help": judging.STRANGERS_EXAMPLE,
    "forewarn-simulator --help": simulator.EPILOG,
    "forewarn-exporter --help": exporter.EXAMPLE,
}
PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "forewarn-model": model.parser,
    "forewarn-simulator": simulator.command_line,
    "forewarn-simulator demo": demo._parser,
    "forewarn-exporter": exporter._parser,
}


def typed() -> Iterator[tuple[str, str, list[str]]]:
    """Yield where it stands, the program, and its arguments."""
    fenced = {
        str(path.relative_to(ROOT)): "\n".join(FENCE.findall(path.read_text(encoding="utf-8")))
        for path in DOCUMENTS
    }
    for place, text in (fenced | HELP).items():
        for line, program in TYPED.findall(text.replace("\\\n", " ")):
            words = shlex.split(line, comments=True)[1:]
            if words[:1] == ["demo"]:
                yield place, f"{program} demo", words[1:]
            else:
                yield place, program, words


def test_every_command_of_a_document_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, set[str]] = {}
    wrong = []
    for place, program, words in typed():
        found.setdefault(program, set()).add(place)
        try:
            PARSERS[program]().parse_args(words)
        except SystemExit as ended:
            if ended.code:
                wrong.append((place, program, words, capsys.readouterr().err.splitlines()[-1]))
    assert wrong == []
    assert found.keys() >= {"forewarn-model", "forewarn-simulator", "forewarn-exporter"}
    assert found["forewarn-model"] >= {"docs/training.md", "docs/evaluation.md", *list(HELP)[:3]}


def test_a_command_that_is_none_would_be_seen() -> None:
    with pytest.raises(SystemExit):
        PARSERS["forewarn-model"]().parse_args(["train", "--no-such-flag"])
