"""A settings file is either understood whole or refused in one line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Literal

import pytest

from daemon.settings import Section, SettingsError, load, parse


class Limits(Section):
    nodes: int = 2

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise ValueError("expected at least 1")


class Speed(StrEnum):
    SLOW = "slow"
    FAST = "fast"


class Root(Section):
    limits: Limits = Limits()
    speeds: tuple[Speed, ...] = ()
    by_place: dict[str, Literal["up", "down"] | None] = {}  # noqa: RUF012 - msgspec copies it
    name: str = "forewarn"


def test_an_empty_file_means_all_defaults() -> None:
    assert Root() == parse("", Root, origin="x.yml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("limits: {nodez: 3}", "unknown key `nodez` - at `$.limits`", id="unknown-key"),
        pytest.param("limits: {nodez: 3}", "expected `nodes`?", id="a-key-nearly-right"),
        pytest.param(
            "colour: 3", "expected one of limits, speeds, by_place, name", id="which-keys"
        ),
        pytest.param("speeds: [slow, loud]", "expected one of slow, fast", id="which-values"),
        pytest.param("by_place: {a: left}", "expected one of down, up", id="which-literals"),
        pytest.param("limits: {nodes: three}", "$.limits.nodes", id="wrong-type"),
        pytest.param("limits: {nodes: 0}", "expected at least 1", id="impossible-value"),
        pytest.param("limits: [", "line", id="not-yaml"),
        pytest.param("name: a\nname: b", "line 2 not YAML: key 'name' is given twice", id="twice"),
        pytest.param("- a", "Expected `object`", id="not-a-mapping"),
    ],
)
def test_a_mistake_is_one_line_with_file_path_and_expectation(text: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse(text, Root, origin="x.yml")
    message = str(caught.value)
    assert message.startswith("x.yml:")
    assert expected in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("limits:\n  nodes: 3\n  nodez: 3", 3, "key `nodez`", id="key-in-a-section"),
        pytest.param("name: a\n# more\ncolour: 3", 3, "key `colour`", id="key-at-the-top"),
        pytest.param("name: a\nspeeds:\n  - slow\n  - loud", 4, "'loud'", id="item-of-a-list"),
        pytest.param("name: a\n\nlimits: {nodes: three}", 3, "Expected `int`", id="wrong-type"),
        pytest.param("name: a\nlimits:\n  nodes: 0", 2, "at least 1", id="impossible-value"),
        pytest.param("by_place:\n  a: left", 1, "'left'", id="under-a-name-of-the-sites-own"),
        pytest.param("name: a\nlimits: {<<: {nodez: 1}}", 2, "key `nodez`", id="merged-in"),
        pytest.param("limits: &l\n  nodez: 1\nname: 2", 2, "key `nodez`", id="with-an-anchor"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse(text, Root, origin="x.yml")
    assert str(caught.value).startswith(f"x.yml: line {line}: ")
    assert said in str(caught.value)


def test_what_is_wrong_with_the_whole_has_no_line() -> None:
    with pytest.raises(SettingsError, match=r"^x\.yml: Expected `object`"):
        parse("- a", Root, origin="x.yml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.yml: cannot be read"):
        load(tmp_path / "absent.yml", Root)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.yml"
    path.write_bytes(b"name: caf\xe9")
    with pytest.raises(SettingsError, match="not UTF-8 at byte 9"):
        load(path, Root)
