"""The ledger in a ConfigMap, changed only by compare-and-swap on its resource version."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from remediation.kube import wire
from remediation.kube.errors import calling
from remediation.kube.mirror import Feed, Held
from remediation.policy.facts.ledger import Ledger, LedgerUnreadable, decode, encode
from remediation.policy.facts.node import FIELD_MANAGER
from remediation.ports import CallFailed, Conflict, FailureReason, StoredLedger

if TYPE_CHECKING:
    from remediation.kube.connection import Connection

NAME = "forewarn-ledger"
KEY = "ledger.json"
_MAPS = msgspec.json.Decoder(wire.ConfigMap)


class LedgerMemory:
    """The newest ledger that any part of this process has seen; it proves nothing, it saves a read.

    Versions are numbers: what is older than what is held is old news.  `dress` is
    what others put on the object, labels and annotations: it is not ours to drop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: StoredLedger | None = None
        self.dress: dict[str, Any] = {}

    def get(self) -> StoredLedger | None:
        """Return the newest."""
        with self._lock:
            return self._newest

    def put(self, ledger: Ledger, metadata: wire.Metadata) -> bool:
        """Hold `ledger` unless something newer is held; return whether it was news."""
        with self._lock:
            held = self._newest
            if held is not None and not _older(held.version, metadata.resource_version):
                return False
            self._newest = StoredLedger(ledger, metadata.resource_version)
            self.dress = {
                "labels": metadata.labels or {},
                "annotations": metadata.annotations or {},
            }
            return True

    def clear(self) -> None:
        """Hold nothing: the ledger is gone, or is not one."""
        with self._lock:
            self._newest = None


class ConfigMapLedger:
    """The one ledger of a namespace; `memory` may be shared with others of this process."""

    def __init__(self, connection: Connection, memory: LedgerMemory | None = None) -> None:
        self._connection = connection
        self._memory = memory or LedgerMemory()

    def last(self) -> StoredLedger | None:
        """Return the ledger as last read, written or told of."""
        return self._memory.get()

    def read(self) -> StoredLedger:
        """Return the stored ledger, an empty one with version "" when there is none."""
        try:
            with calling(f"read config map {NAME}"):
                answer = self._connection.core.read_namespaced_config_map(
                    name=NAME, namespace=self._connection.namespace, **self._connection.raw
                )
                found = _MAPS.decode(answer.data)
        except CallFailed as failed:
            self._memory.clear()
            if failed.reason is FailureReason.NOT_FOUND:
                return StoredLedger(Ledger(), "")
            raise
        ledger = _decode(found)
        self._memory.put(ledger, found.metadata)
        return StoredLedger(ledger, found.metadata.resource_version)

    def write(self, ledger: Ledger, version: str) -> StoredLedger:
        """Store `ledger` in place of `version`; raises `Conflict` when that is gone."""
        data = {KEY: encode(ledger)}
        try:
            with calling(f"write config map {NAME}"):
                written = self._replace(data, version) if version else self._create(data)
                metadata = _MAPS.decode(written.data).metadata
        except CallFailed as failed:
            # Deleted between reading and writing: as much a conflict as a change.
            if version and failed.reason is FailureReason.NOT_FOUND:
                self._memory.clear()
                raise Conflict(str(failed)) from failed
            raise
        self._memory.put(ledger, metadata)
        return StoredLedger(ledger, metadata.resource_version)

    def _replace(self, data: dict[str, str], version: str) -> Any:
        # Not a patch: the server would read, merge and check the whole text for it.
        metadata = {"name": NAME, "resourceVersion": version, **self._memory.dress}
        return self._connection.core.replace_namespaced_config_map(
            name=NAME,
            namespace=self._connection.namespace,
            body={"metadata": metadata, "data": data},
            field_manager=FIELD_MANAGER,
            **self._connection.raw,
        )

    def _create(self, data: dict[str, str]) -> Any:
        return self._connection.core.create_namespaced_config_map(
            namespace=self._connection.namespace,
            body={"metadata": {"name": NAME}, "data": data},
            field_manager=FIELD_MANAGER,
            **self._connection.raw,
        )


def ledger_feed(connection: Connection) -> Feed[str, wire.ConfigMap]:
    """Return how to follow the one ledger."""
    only = {"namespace": connection.namespace, "field_selector": f"metadata.name={NAME}"}

    def page(_: str) -> Any:
        return connection.core.list_namespaced_config_map(**only, **connection.raw)

    def watch(version: str, seconds: int) -> Any:
        return connection.core.list_namespaced_config_map(
            watch=True, **only, **connection.stream(version, seconds)
        )

    return Feed(what=f"config map {NAME}", page=page, watch=watch, read=_read)


def remember(memory: LedgerMemory, told: wire.ConfigMap | None) -> bool:
    """Hold what a watch told; return whether somebody else wrote it."""
    if told is None:
        memory.clear()
        return True
    held = memory.get()
    if held is not None and held.version == told.metadata.resource_version:
        return False  # our own write, told again: it is not worth decoding
    try:
        ledger = _decode(told)
    except CallFailed:
        memory.clear()  # reading it says the same, to somebody who can tell
        return True
    return memory.put(ledger, told.metadata)


def _read(document: bytes | msgspec.Raw) -> tuple[str, Held[wire.ConfigMap]]:
    found = _MAPS.decode(document)
    return found.metadata.name, Held(found, found.metadata.resource_version)


def _older(held: str, told: str) -> bool:
    numbers = held.isdecimal() and told.isdecimal()
    return int(held) < int(told) if numbers else held != told


def _decode(found: wire.ConfigMap) -> Ledger:
    # A manifest may create the map empty; any other content must be ours.
    if not found.data:
        return Ledger()
    try:
        return decode(found.data.get(KEY, ""))
    except LedgerUnreadable as error:
        message = f"config map {NAME}, key {KEY}: {error}"
        raise CallFailed(message, FailureReason.LEDGER_UNREADABLE) from error
