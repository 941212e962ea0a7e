"""What the embedded cluster says it offers, as clients ask before they use a kind."""

from __future__ import annotations

from simulator.cluster.kinds import KINDS, Kind, Obj

_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


def answer(path: str) -> Obj | None:
    """Return the answer to a question for groups or kinds, None for any other path."""
    match [part for part in path.split("/") if part]:
        case ["apis"]:
            names = sorted({kind.group for kind in KINDS.values() if kind.group})
            return {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [_group(name) for name in names],
            }
        case ["apis", group, version]:
            found = [one for one in KINDS.values() if (one.group, one.version) == (group, version)]
            return _resources(f"{group}/{version}", found) if found else None
    return None


def _group(name: str) -> Obj:
    versions = sorted({kind.version for kind in KINDS.values() if kind.group == name})
    told = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": told, "preferredVersion": told[0]}


def _resources(group_version: str, kinds: list[Kind]) -> Obj:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": [
            {
                "name": one.plural,
                "singularName": one.kind.lower(),
                "namespaced": one.namespaced,
                "kind": one.kind,
                "verbs": _VERBS,
            }
            for one in kinds
        ],
    }
