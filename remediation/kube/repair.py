"""The object by which a drained node is handed over: of any kind, in the site's own words.

It carries the mark of its episode, so that a second try finds what the first
one made, and nobody else's object is ever deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from remediation.kube.errors import calling
from remediation.policy.facts.mark import (
    EPISODE_ANNOTATION,
    MarkUnreadable,
    decode_mark,
    encode_mark,
)
from remediation.policy.facts.node import FIELD_MANAGER
from remediation.ports import CallFailed, Conflict, FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remediation.kube.connection import Connection
    from remediation.kube.discovery import Discovery
    from remediation.policy.facts.handed import Handed
    from remediation.policy.steps import HandOver, TakeBack


class _Metadata(msgspec.Struct, frozen=True):
    uid: str = ""
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class Repair:
    """Makes and deletes the objects that settings describe."""

    def __init__(self, connection: Connection, discovery: Discovery) -> None:
        self._connection = connection
        self._discovery = discovery

    def make(self, step: HandOver) -> None:
        """Create the object, or find that this episode's is there; raises `CallFailed`."""
        where = self._where(step.handed)
        if where is None:
            message = f"the cluster offers no {step.handed.kind} of {step.handed.api_version}"
            raise CallFailed(message, FailureReason.NOT_FOUND)
        mark = step.write.mark
        assert mark is not None  # noqa: S101 - handing over writes a mark
        body = _with_note(step.body, encode_mark(mark))
        try:
            with calling(f"create {step.handed}"):
                self._call("create", where, body=body, field_manager=FIELD_MANAGER)
        except Conflict:
            found = self._read(step.handed, where)
            if found is None or not _is_of(found, mark.episode):
                message = f"{step.handed} is there and not of this episode"
                raise CallFailed(message, FailureReason.UNEXPECTED_ANSWER) from None

    def unmake(self, step: TakeBack) -> None:
        """Delete the object if it is this episode's; what is gone or was replaced is left."""
        where = self._where(step.handed)
        found = self._read(step.handed, where) if where is not None else None
        if found is None or where is None or not _is_of(found, step.episode):
            return
        # What it made goes with it, such as the pods of a Job.
        options = {
            "preconditions": {"uid": found.metadata.uid},
            "propagationPolicy": "Background",
        }
        try:
            with calling(f"delete {step.handed}"):
                self._call("delete", where, name=step.handed.name, body=options)
        except CallFailed as failed:
            if failed.reason is not FailureReason.NOT_FOUND:
                raise

    def _where(self, handed: Handed) -> dict[str, str] | None:
        """Return how the server addresses the kind, None where it does not know it."""
        group, _, version = handed.api_version.partition("/")
        offered = self._discovery.kind(group, version, handed.kind)
        if offered is None:
            return None
        if offered.namespaced != bool(handed.namespace):
            has = "needs a" if offered.namespaced else "has no"
            message = f"{handed}: its kind {has} namespace"
            raise CallFailed(message, FailureReason.BAD_CONTENT)
        found = {"group": group, "version": version, "plural": offered.plural}
        return found | ({"namespace": handed.namespace} if handed.namespace else {})

    def _read(self, handed: Handed, where: dict[str, str]) -> _Object | None:
        try:
            with calling(f"read {handed}"):
                found = self._call("get", where, name=handed.name)
                return msgspec.convert(found, _Object)
        except CallFailed as failed:
            if failed.reason is FailureReason.NOT_FOUND:
                return None
            raise

    def _call(self, verb: str, where: dict[str, str], **rest: Any) -> Any:
        scope = "namespaced" if "namespace" in where else "cluster"
        method = getattr(self._connection.site, f"{verb}_{scope}_custom_object")
        return method(**where, **rest, **self._connection.limits)


def _with_note(body: Mapping[str, Any], note: str) -> dict[str, Any]:
    metadata = dict(body["metadata"])
    metadata["annotations"] = {**(metadata.get("annotations") or {}), EPISODE_ANNOTATION: note}
    return {**body, "metadata": metadata}


def _is_of(found: _Object, episode: str) -> bool:
    note = (found.metadata.annotations or {}).get(EPISODE_ANNOTATION)
    if note is None:
        return False
    try:
        return decode_mark(note).episode == episode
    except MarkUnreadable:
        return False
