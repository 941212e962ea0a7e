"""Where the volume behind a claim can be attached: a pod can go nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from remediation.kube import wire_pods
from remediation.kube.demands import read_terms
from remediation.kube.errors import calling
from remediation.ports import CallFailed, FailureReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection
    from remediation.policy.facts.demand import Term

# Affinities of volumes do not change; which volume a claim has may, when it is made anew.
_KEPT_SECONDS = 60.0
_CLAIMS = msgspec.json.Decoder(wire_pods.Claim)
_VOLUMES = msgspec.json.Decoder(wire_pods.PersistentVolume)
Claim = tuple[str, str]
Terms = tuple["Term", ...] | None


class Claims:
    """Reads claims (namespace, name) and their volumes, and remembers them for a minute."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._known: dict[Claim, tuple[float, Terms]] = {}

    def read(self, claims: Iterable[Claim]) -> Mapping[Claim, Terms]:
        """Return where the volume of each claim can be, None anywhere; raises `CallFailed`.

        A claim that is not there, or has no volume, is left out.
        """
        now = self._clock.monotonic()
        self._known = {
            claim: known for claim, known in self._known.items() if now - known[0] < _KEPT_SECONDS
        }
        for claim in claims:
            if claim not in self._known:
                try:
                    self._known[claim] = now, self._terms(*claim)
                except CallFailed as failed:
                    if failed.reason is not FailureReason.NOT_FOUND:
                        raise
        return {claim: self._known[claim][1] for claim in claims if claim in self._known}

    def _terms(self, namespace: str, name: str) -> Terms:
        raw = self._connection.raw
        with calling(f"read claim {namespace}/{name}"):
            answer = self._connection.core.read_namespaced_persistent_volume_claim(
                name=name, namespace=namespace, **raw
            )
            volume = _CLAIMS.decode(answer.data).spec.volume_name
        if not volume:
            raise CallFailed(f"claim {namespace}/{name} has no volume", FailureReason.NOT_FOUND)
        with calling(f"read volume {volume}"):
            answer = self._connection.core.read_persistent_volume(name=volume, **raw)
            affinity = _VOLUMES.decode(answer.data).spec.node_affinity
        required = affinity.required if affinity is not None else None
        return read_terms(required.node_selector_terms) if required is not None else None
