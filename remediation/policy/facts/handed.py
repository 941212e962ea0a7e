"""The name of an object that was made for whoever repairs a node."""

from __future__ import annotations

import msgspec


class Handed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One object; `made` turns true once it is known to be there.

    `namespace` is empty for kinds that have none.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    made: bool = False

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"
