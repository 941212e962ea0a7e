"""Which kinds the server offers, in which version: asked, never assumed, and asked again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from remediation.kube import wire_groups
from remediation.kube.errors import calling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection

# An upgrade of the server brings other versions; it takes longer than this.
_KEPT_SECONDS = 300.0
_GROUPS = msgspec.json.Decoder(wire_groups.ApiGroups)
_RESOURCES = msgspec.json.Decoder(wire_groups.ApiResources)


@dataclass(frozen=True, slots=True)
class Offered:
    """One kind as the server offers it."""

    version: str
    plural: str
    kind: str
    namespaced: bool


class Discovery:
    """Asks the server what it offers, and remembers it for a while."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._known: dict[str, tuple[float, Mapping[str, Offered]]] = {}

    def plurals(self, group: str) -> Mapping[str, Offered]:
        """Return the kinds of `group` by plural, each in the version that the server likes best.

        Empty for a group that is not there; raises `CallFailed`.
        """
        now = self._clock.monotonic()
        known = self._known.get(group)
        if known is None or now - known[0] >= _KEPT_SECONDS:
            known = self._known[group] = now, self._ask(group)
        return known[1]

    def kind(self, group: str, version: str, kind: str) -> Offered | None:
        """Return one kind in exactly that version, None when it is not offered; never remembered.

        Raises `CallFailed`.
        """
        if version not in self._versions(group):
            return None
        found = self._resources(group, version)
        return next((one for one in found if one.kind == kind and "/" not in one.plural), None)

    def _ask(self, group: str) -> Mapping[str, Offered]:
        found: dict[str, Offered] = {}
        for version in self._versions(group):
            for one in self._resources(group, version):
                found.setdefault(one.plural, one)
        return found

    def _versions(self, group: str) -> tuple[str, ...]:
        with calling("ask for the API groups"):
            answer = self._connection.groups.get_api_versions(**self._connection.raw)
            groups = _GROUPS.decode(answer.data).groups or ()
        versions = next((one.versions or () for one in groups if one.name == group), ())
        return tuple(one.version for one in versions)

    def _resources(self, group: str, version: str) -> tuple[Offered, ...]:
        with calling(f"ask for the kinds of {group}/{version}"):
            answer = self._connection.kinds.get_api_resources(
                group=group, version=version, **self._connection.raw
            )
            found = _RESOURCES.decode(answer.data).resources or ()
        return tuple(Offered(version, one.name, one.kind, one.namespaced) for one in found)
