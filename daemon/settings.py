"""Strict YAML settings: an unknown key or wrong type is one clear error with line and path."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import yaml
from msgspec import inspect

if TYPE_CHECKING:
    from pathlib import Path

_AT = re.compile(r" - at `([^`]+)`$")
_STEP = re.compile(r"\.(\w+)|(\[[^\]]*\])")
_UNKNOWN = re.compile(r"^Object contains unknown field `([^`]+)`")
T = TypeVar("T", bound=msgspec.Struct)


class SettingsError(Exception):
    """A settings file that cannot be used: which file, which line of it, what was expected."""


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
    """Read `path` as YAML into `kind`; raises `SettingsError` with file, line and expectation."""
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
        message = str(error)
        line = _line(text, message)
        where = f" line {line}:" if line is not None else ""
        said = message.replace("Object contains unknown field", "unknown key")
        raise SettingsError(f"{origin}:{where} {said}{_choices(kind, message)}") from error


def _line(text: str, message: str) -> int | None:
    """Return the line, from 1, of what `message` speaks of; None where no line can be told."""
    where, unknown = _AT.search(message), _UNKNOWN.match(message)
    path = [name or index for name, index in _STEP.findall(where[1] if where else "")]
    node, line = yaml.compose(text, _Loader), None
    for step in [*path, *([unknown[1]] if unknown else [])]:
        found = _child(node, step)
        if found is None:
            break  # a name of the site's own, which the path leaves out, or one by an alias
        key, node = found
        line = int(key.start_mark.line) + 1
    return line


def _child(node: yaml.Node | None, step: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the key and the value, or the item twice, that a step of a path leads to."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == step), None)
    index = step.strip("[]")
    if isinstance(node, yaml.SequenceNode) and index.isdigit():
        return node.value[int(index)], node.value[int(index)]
    return None


def _choices(kind: type[msgspec.Struct], message: str) -> str:
    """Return what `message` leaves out: the values that an enum knows, the keys of a section."""
    where = _AT.search(message)
    found = _type_at(inspect.type_info(kind), where[1] if where else "$")
    if message.startswith("Invalid enum value"):
        if isinstance(found, inspect.EnumType):
            return f", expected one of {', '.join(str(member.value) for member in found.cls)}"
        if isinstance(found, inspect.LiteralType):
            return f", expected one of {', '.join(map(str, found.values))}"
    unknown = _UNKNOWN.match(message)
    if unknown and isinstance(found, inspect.StructType):
        names = [field.encode_name for field in found.fields]
        near = get_close_matches(unknown[1], names, n=1)
        return f", expected `{near[0]}`?" if near else f", expected one of {', '.join(names)}"
    return ""


def _type_at(found: inspect.Type | None, path: str) -> inspect.Type | None:
    """Follow a path as msgspec writes it, `$.targets[0].racks`, through the types."""
    for name, _ in _STEP.findall(path):
        found = _given(found)
        if isinstance(found, inspect.StructType):
            found = next((f.type for f in found.fields if f.encode_name == name), None)
        elif isinstance(found, inspect.DictType):
            found = found.value_type
        elif isinstance(found, inspect.CollectionType):
            found = found.item_type
        else:
            return None
    return _given(found)


def _given(found: inspect.Type | None) -> inspect.Type | None:
    """Return the type of what may also be left out."""
    if not isinstance(found, inspect.UnionType):
        return found
    return next((one for one in found.types if not isinstance(one, inspect.NoneType)), None)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]
