"""Objects, resource versions and the watch log: one counter, one lock, nothing on disk."""

from __future__ import annotations

import threading
import uuid
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simulator.cluster import refusals

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.clocks import Clock
    from simulator.cluster.kinds import Kind, Obj

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the watch log; `before` is None for an addition."""

    revision: int
    kind: Kind
    type: str
    obj: Obj
    before: Obj | None


class Store:
    """Every object of the cluster. All methods are safe to call from any thread.

    `history` bounds the watch log: a watch from further back is refused with 410.
    """

    def __init__(self, clock: Clock, history: int = 20_000) -> None:
        self._clock = clock
        self._objects: dict[Kind, dict[Key, Obj]] = {}
        self._revision = 1
        self._log: deque[Change] = deque(maxlen=history)
        self._changed = threading.Condition(threading.RLock())

    @property
    def revision(self) -> int:
        """The resourceVersion of the newest change."""
        with self._changed:
            return self._revision

    def now(self) -> str:
        """The wall clock as the API writes it: whole seconds, UTC."""
        return datetime.fromtimestamp(self._clock.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def get(self, kind: Kind, namespace: str, name: str) -> Obj:
        """Return the object, or refuse with 404."""
        with self._changed:
            found = self._objects.get(kind, {}).get((namespace, name))
        if found is None:
            raise refusals.not_found(kind, name)
        return found

    def view(self, kind: Kind, namespace: str | None = None) -> tuple[list[Obj], int]:
        """Return the objects ordered by key, and the revision at which they were all true."""
        with self._changed:
            items = sorted(self._objects.get(kind, {}).items())
            revision = self._revision
        return [obj for key, obj in items if namespace is None or key[0] == namespace], revision

    def create(self, kind: Kind, obj: Obj) -> Obj:
        """Add an object with its identity filled in; 409 when the name is taken."""
        obj = {**obj, "metadata": self._identity(obj["metadata"])}
        key = _key(obj)
        with self._changed:
            if key in self._objects.get(kind, {}):
                raise refusals.already_exists(kind, key[1])
            return self._commit(kind, "ADDED", obj, None)

    def write(
        self, kind: Kind, namespace: str, name: str, change: Callable[[Obj], Obj | None]
    ) -> Obj:
        """Replace an object by `change(object)` in one step; None removes it.

        A change to an equal object is no change: it keeps its resourceVersion
        and nothing is told to watchers. An object that is being deleted goes
        when its grace and its finalizers are through.
        """
        with self._changed:
            before = self.get(kind, namespace, name)
            after = change(before)
            if after == before:
                return before
            if after is None or _through(after):
                return self._commit(kind, "DELETED", after or before, before)
            return self._commit(kind, "MODIFIED", after, before)

    def wait_beyond(self, revision: int, timeout_seconds: float) -> None:
        """Return when something is newer than `revision`, or when the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._revision > revision, timeout_seconds)

    def changes_after(self, revision: int, timeout_seconds: float) -> list[Change]:
        """Wait until something is newer than `revision`; 410 when the log does not reach back."""
        with self._changed:
            self.wait_beyond(revision, timeout_seconds)
            if self._log and revision < self._log[0].revision - 1:
                raise refusals.expired(revision, self._log[0].revision - 1)
            newer: list[Change] = []
            for change in reversed(self._log):
                if change.revision <= revision:
                    break
                newer.append(change)
        return newer[::-1]

    def _identity(self, metadata: Obj) -> Obj:
        named = dict(metadata)
        named.setdefault("namespace", "")
        if not named.get("name") and named.get("generateName"):
            named["name"] = named["generateName"] + uuid.uuid4().hex[:5]
        named["uid"] = str(uuid.uuid4())
        named["creationTimestamp"] = self.now()
        return {key: value for key, value in named.items() if value != ""}

    def _commit(self, kind: Kind, type_: str, obj: Obj, before: Obj | None) -> Obj:
        self._revision += 1
        metadata = {**obj["metadata"], "resourceVersion": str(self._revision)}
        stored: dict[str, Any] = {**obj, "metadata": metadata}
        objects = self._objects.setdefault(kind, {})
        if type_ == "DELETED":
            objects.pop(_key(obj), None)
        else:
            objects[_key(obj)] = stored
        self._log.append(Change(self._revision, kind, type_, stored, before))
        self._changed.notify_all()
        return stored


def _key(obj: Obj) -> Key:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _through(obj: Obj) -> bool:
    metadata = obj["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
    )
