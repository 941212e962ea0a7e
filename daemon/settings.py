"""Strict YAML settings: an unknown key or wrong type is one clear error with its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import yaml

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T", bound=msgspec.Struct)


class SettingsError(Exception):
    """A settings file that cannot be used: which file, where in it, what was expected."""


class _Loader(yaml.SafeLoader):
    """Refuses a key that is given twice: the last one would win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        own = [key.value for key, _ in node.value if key.value != "<<"]
        for key, _ in reversed(node.value):
            if own.count(key.value) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is given twice", key.start_mark
                )
        return super().construct_mapping(node, deep=deep)


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every settings section: immutable, and strict about unknown keys.

    A section checks ranges and relations in `__post_init__` by raising
    `ValueError` with what was expected; msgspec adds the path.
    """


def load(path: Path, kind: type[T]) -> T:
    """Read `path` as YAML into `kind`; raises `SettingsError` with file, path and expectation."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 at byte {error.start}") from error
    return parse(text, kind, origin=str(path))


def parse(text: str, kind: type[T], *, origin: str) -> T:
    """Decode YAML `text` into `kind`; an empty document means all defaults."""
    try:
        document = yaml.load(text, _Loader)  # noqa: S506, TID251 - a SafeLoader, but stricter
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise SettingsError(f"{origin}:{where} not YAML: {_first_line(error)}") from error
    try:
        return msgspec.convert({} if document is None else document, kind, strict=True)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{origin}: {error}") from error


def _first_line(error: Exception) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]
