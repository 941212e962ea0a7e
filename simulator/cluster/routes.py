"""Requests as values, and which object a path means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from simulator.cluster.kinds import KINDS, Kind, Obj
from simulator.cluster.refusals import Refused, bad_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SERVED = {(group, version) for group, version, _ in KINDS}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; `query` holds the last value of each key."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = "application/json"
    authorization: str = ""
    user_agent: str = ""

    @property
    def manager(self) -> str:
        """The name under which the writer's fields are booked."""
        return self.query.get("fieldManager") or self.user_agent.split("/")[0] or "unknown"

    def document(self) -> Obj:
        """Return the JSON body; an empty one is an empty object, anything but an object is 400."""
        try:
            found = msgspec.json.decode(self.body or b"{}")
        except msgspec.DecodeError as error:
            raise bad_request(f"unable to decode the body: {error}") from error
        if not isinstance(found, dict):
            raise bad_request(f"the body must be a JSON object, not {type(found).__name__}")
        return found

    def flag(self, key: str) -> bool:
        """Read a query parameter as the server reads booleans."""
        return self.query.get(key, "").lower() in ("true", "1")


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete answer; `body` is JSON, or plain text for health checks."""

    code: int
    body: Obj | str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Watching:
    """An answer that streams one JSON object a line until it ends."""

    events: Iterator[Obj]


class NoSuchPath(Exception):
    """Neither a group that is served nor a path beside them."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a path means; an empty `name` is the whole collection, namespace None all of them."""

    kind: Kind
    namespace: str | None
    name: str
    subresource: str


def find_target(path: str) -> Target:
    """Parse `/api/v1/...` and `/apis/group/version/...`; an unknown resource is 404.

    Outside every served group there is not even that: `NoSuchPath`.
    """
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"]:
        group, version, rest = "", parts[1] if len(parts) > 1 else "", parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 2:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise NoSuchPath(path)
    if (group, version) not in _SERVED:
        raise NoSuchPath(path)
    namespace: str | None = None
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] != "status":
        namespace, rest = rest[1], rest[2:]
    kind = KINDS.get((group, version, rest[0] if rest else ""))
    if kind is None or len(rest) > 3 or (namespace is not None) > kind.namespaced:
        raise _nothing_here()
    name, subresource = (*rest[1:], "", "")[:2]
    if name and kind.namespaced and namespace is None:
        raise _nothing_here()
    return Target(kind, namespace if kind.namespaced else "", name, subresource)


def namespace_of(target: Target) -> str:
    """The namespace of a named object, or of one to be created."""
    if target.namespace is None:
        raise Refused(405, "MethodNotAllowed", "the server does not allow this method here")
    return target.namespace


def _nothing_here() -> Refused:
    return Refused(404, "NotFound", "the server could not find the requested resource")
