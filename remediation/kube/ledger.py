"""The ledger in a ConfigMap, changed only by compare-and-swap on its resource version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remediation.kube.errors import calling
from remediation.policy.ledger import Ledger, LedgerUnreadable, decode, encode
from remediation.policy.snapshot import FIELD_MANAGER
from remediation.ports import CallFailed, Conflict, FailureReason, StoredLedger

if TYPE_CHECKING:
    from remediation.kube.connection import Connection

NAME = "forewarn-ledger"
KEY = "ledger.json"


class ConfigMapLedger:
    """The one ledger of a namespace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self) -> StoredLedger:
        """Return the stored ledger, an empty one with version "" when there is none."""
        try:
            with calling(f"read config map {NAME}"):
                found = self._connection.core.read_namespaced_config_map(
                    name=NAME, namespace=self._connection.namespace, **self._connection.limits
                )
                data, version = found.data or {}, found.metadata.resource_version
        except CallFailed as failed:
            if failed.reason is FailureReason.NOT_FOUND:
                return StoredLedger(Ledger(), "")
            raise
        return StoredLedger(_decode(data), version)

    def write(self, ledger: Ledger, version: str) -> StoredLedger:
        """Store `ledger` in place of `version`; raises `Conflict` when that is gone."""
        body: dict[str, Any] = {"data": {KEY: encode(ledger)}}
        try:
            with calling(f"write config map {NAME}"):
                written = self._patch(body, version) if version else self._create(body)
                return StoredLedger(ledger, written.metadata.resource_version)
        except CallFailed as failed:
            # Deleted between reading and writing: as much a conflict as a change.
            if version and failed.reason is FailureReason.NOT_FOUND:
                raise Conflict(str(failed)) from failed
            raise

    def _patch(self, body: dict[str, Any], version: str) -> Any:
        return self._connection.core.patch_namespaced_config_map(
            name=NAME,
            namespace=self._connection.namespace,
            body={**body, "metadata": {"resourceVersion": version}},
            field_manager=FIELD_MANAGER,
            _content_type="application/merge-patch+json",
            **self._connection.limits,
        )

    def _create(self, body: dict[str, Any]) -> Any:
        return self._connection.core.create_namespaced_config_map(
            namespace=self._connection.namespace,
            body={**body, "metadata": {"name": NAME}},
            field_manager=FIELD_MANAGER,
            **self._connection.limits,
        )


def _decode(data: dict[str, str]) -> Ledger:
    # A manifest may create the map empty; any other content must be ours.
    if not data:
        return Ledger()
    try:
        return decode(data.get(KEY, ""))
    except LedgerUnreadable as error:
        message = f"config map {NAME}, key {KEY}: {error}"
        raise CallFailed(message, FailureReason.LEDGER_UNREADABLE) from error
