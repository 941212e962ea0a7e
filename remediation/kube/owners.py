"""Who owns the Jobs that own pods: several of one owner are one job to whoever waits for it.

Labels tell most of it.  For controllers that are not known, all Jobs of a
namespace are listed once, and again when a pod of a new one appears.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from remediation.kube import wire
from remediation.kube.errors import calling
from remediation.policy.facts.jobs import needs_owner
from remediation.policy.facts.pod import Owner
from remediation.ports import CallFailed, FailureReason, Pods

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remediation.kube.connection import Connection
    from remediation.policy.facts.pod import Pod

_PAGES = msgspec.json.Decoder(wire.Page)
_JOBS = msgspec.json.Decoder(wire.Owned)


class Owners:
    """Remembers the owner of each Job, by the Job's uid, for as long as its pods are there."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, Owner | None] = {}
        self._may_ask = True

    def named(self, pods: Pods, nodes: Iterable[str]) -> Pods:
        """Return `pods` with the owners of their Jobs, in the namespaces that `nodes` concern.

        Raises `CallFailed`; without the right to list Jobs, each is a job of its own.
        """
        concerned = {
            pod.namespace for name in nodes for pod in pods.on.get(name, ()) if needs_owner(pod)
        }
        if not concerned or not self._may_ask:
            return pods
        every = (*pods.on.values(), pods.pending)
        asked = [p for found in every for p in found if p.namespace in concerned and needs_owner(p)]
        self._learn(asked)
        if not any(self._known.values()):
            return pods
        on = {name: tuple(map(self._name, found)) for name, found in pods.on.items()}
        return Pods(on, tuple(map(self._name, pods.pending)))

    def _name(self, pod: Pod) -> Pod:
        owner = self._known.get(pod.owner_uid) if pod.owner_uid else None
        return pod if owner is None else replace(pod, top=owner)

    def _learn(self, pods: list[Pod]) -> None:
        needed = {pod.owner_uid for pod in pods}
        self._known = {uid: owner for uid, owner in self._known.items() if uid in needed}
        for namespace in sorted({p.namespace for p in pods if p.owner_uid not in self._known}):
            try:
                found = self._owners_in(namespace)
            except CallFailed as failed:
                if failed.reason is not FailureReason.FORBIDDEN:
                    raise
                self._may_ask = False
                return
            mine = {pod.owner_uid for pod in pods if pod.namespace == namespace}
            # A Job that is gone already has no owner any more: it is not asked for again.
            self._known |= {uid: found.get(uid) for uid in mine}

    def _owners_in(self, namespace: str) -> Mapping[str, Owner | None]:
        with calling(f"list jobs of {namespace}"):
            answer = self._connection.custom.list_namespaced_custom_object(
                group="batch",
                version="v1",
                namespace=namespace,
                plural="jobs",
                **self._connection.raw,
            )
            found = [_JOBS.decode(item).metadata for item in _PAGES.decode(answer.data).items or ()]
        return {one.uid: _owner(one) for one in found}


def _owner(metadata: wire.Metadata) -> Owner | None:
    owner = next((one for one in metadata.owner_references or () if one.controller), None)
    return None if owner is None else Owner(owner.kind, owner.name, owner.uid)
