"""The Lease as a record that can be read, created and replaced; who leads is decided elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from remediation.kube.errors import calling
from remediation.leadership import LeaseRecord
from remediation.policy.facts.node import FIELD_MANAGER
from remediation.ports import CallFailed, FailureReason

if TYPE_CHECKING:
    from remediation.kube.connection import Connection

NAME = "forewarn-remediation"


class KubeLease:
    """The one Lease of a namespace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self) -> LeaseRecord | None:
        """Return the lease, None when there is none; raises `CallFailed`."""
        try:
            with calling(f"read lease {NAME}"):
                return _record(
                    self._connection.coordination.read_namespaced_lease(
                        name=NAME, namespace=self._connection.namespace, **self._connection.limits
                    )
                )
        except CallFailed as failed:
            if failed.reason is FailureReason.NOT_FOUND:
                return None
            raise

    def write(self, record: LeaseRecord, *, now: float) -> None:
        """Create or replace the lease; raises `Conflict` when another was faster.

        `now` (Unix seconds) is written as the renewal, for people and other clients.
        """
        spec = _spec(record, now)
        with calling(f"write lease {NAME}"):
            if record.version:
                self._patch({"metadata": {"resourceVersion": record.version}, "spec": spec})
            else:
                self._create({"metadata": {"name": NAME}, "spec": spec})

    def _patch(self, body: dict[str, Any]) -> None:
        self._connection.coordination.patch_namespaced_lease(
            name=NAME,
            namespace=self._connection.namespace,
            body=body,
            field_manager=FIELD_MANAGER,
            _content_type="application/merge-patch+json",
            **self._connection.limits,
        )

    def _create(self, body: dict[str, Any]) -> None:
        self._connection.coordination.create_namespaced_lease(
            namespace=self._connection.namespace,
            body=body,
            field_manager=FIELD_MANAGER,
            **self._connection.limits,
        )


def _record(found: Any) -> LeaseRecord:
    spec = found.spec
    return LeaseRecord(
        holder=spec.holder_identity or "",
        transitions=int(spec.lease_transitions or 0),
        duration_seconds=int(spec.lease_duration_seconds or 0),
        renewed=str(spec.renew_time or ""),
        version=found.metadata.resource_version,
    )


def _spec(record: LeaseRecord, now: float) -> dict[str, Any]:
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "holderIdentity": record.holder,
        "leaseTransitions": record.transitions,
        "leaseDurationSeconds": record.duration_seconds,
        "renewTime": moment,
    }
