"""Refusals as the API server words them: HTTP code, `reason`, `message`, `details`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.cluster.kinds import Kind, Obj


class Refused(Exception):
    """An answer other than success; carries the body that the client receives."""

    def __init__(
        self, code: int, reason: str, message: str, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status: Obj = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "code": code,
        }
        if reason:
            self.status["reason"] = reason
        if details:
            self.status["details"] = details


def _about(kind: Kind, name: str) -> dict[str, Any]:
    return {"name": name, "group": kind.group, "kind": kind.plural}


def not_found(kind: Kind, name: str) -> Refused:
    """404: no such object."""
    return Refused(404, "NotFound", f'{kind.resource} "{name}" not found', _about(kind, name))


def already_exists(kind: Kind, name: str) -> Refused:
    """409 on create."""
    message = f'{kind.resource} "{name}" already exists'
    return Refused(409, "AlreadyExists", message, _about(kind, name))


def conflict(kind: Kind, name: str, why: str) -> Refused:
    """409 on a write whose precondition does not hold; nothing was changed."""
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}'
    return Refused(409, "Conflict", message, _about(kind, name))


def stale(kind: Kind, name: str) -> Refused:
    """409: the resourceVersion of the request is not the current one."""
    return conflict(
        kind,
        name,
        "the object has been modified; please apply your changes to the latest version"
        " and try again",
    )


def invalid(kind: Kind, name: str, field: str, why: str) -> Refused:
    """422: the object would break a rule of its kind."""
    causes = [{"reason": "FieldValueInvalid", "message": why, "field": field}]
    message = f'{kind.kind} "{name}" is invalid: {field}: {why}'
    return Refused(422, "Invalid", message, {**_about(kind, name), "causes": causes})


def bad_request(message: str) -> Refused:
    """400: the request cannot be understood."""
    return Refused(400, "BadRequest", message)


def expired(requested: int, oldest: int) -> Refused:
    """410: the watch history no longer reaches back to the requested resourceVersion."""
    return Refused(410, "Expired", f"too old resource version: {requested} ({oldest})")
