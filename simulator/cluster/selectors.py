"""Label and field selectors, in the grammar of the Kubernetes API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.cluster.refusals import bad_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.cluster.kinds import Kind, Obj

    Matcher = Callable[[Obj], bool]

_SET = re.compile(r"^\s*([^\s!=,()]+)\s+(in|notin)\s+\(([^)]*)\)\s*$")
_EQUALITY = re.compile(r"^\s*([^\s!=,()]+)\s*(==|=|!=)\s*([^\s!=,()]*)\s*$")
_PRESENCE = re.compile(r"^\s*(!?)\s*([^\s!=,()]+)\s*$")
_COMMA = re.compile(r",(?![^(]*\))")


def label_matcher(selector: str) -> Matcher:
    """Compile `a=b,c!=d,e in (f,g),h,!i`; an empty selector matches everything."""
    terms = [_label_term(part) for part in _COMMA.split(selector) if part.strip()]

    def matches(obj: Obj) -> bool:
        labels = obj["metadata"].get("labels") or {}
        return all(term(labels) for term in terms)

    return matches


def matches_selector(selector: Obj | None, labels: Mapping[str, str]) -> bool:
    """Apply a `matchLabels` selector object; the expressions form is not offered."""
    wanted = (selector or {}).get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items())


def field_matcher(kind: Kind, selector: str) -> Matcher:
    """Compile `spec.nodeName=a,status.phase!=b`; an unknown field is refused with 400."""
    terms = [_field_term(kind, part) for part in selector.split(",") if part.strip()]
    return lambda obj: all(term(obj) for term in terms)


def _label_term(part: str) -> Callable[[Mapping[str, str]], bool]:
    if found := _SET.match(part):
        key, operator, listed = found.groups()
        values = {value.strip() for value in listed.split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if found := _EQUALITY.match(part):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _PRESENCE.match(part):
        absent, key = found.groups()
        return lambda labels: (key in labels) != bool(absent)
    raise bad_request(f"unable to parse requirement: {part!r}")


def _field_term(kind: Kind, part: str) -> Matcher:
    found = _EQUALITY.match(part)
    if not found:
        raise bad_request(f"invalid selector: {part!r}; can't understand {part!r}")
    path, operator, value = found.groups()
    if path not in ("metadata.name", "metadata.namespace", *kind.fields):
        raise bad_request(f'field label not supported: "{path}"')
    wanted = operator != "!="
    return lambda obj: (_field(obj, path) == value) is wanted


def _field(obj: Obj, path: str) -> str:
    value: object = obj
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(value).lower()
    if path == "spec.unschedulable" and value is None:
        return "false"
    return "" if value is None else str(value)
