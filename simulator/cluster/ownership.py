"""Who wrote which field: `metadata.managedFields`, for writes that are no server-side apply. Pure.

A field belongs to whoever last gave it another value; writing the value that
it has changes nothing, and a field that goes is nobody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.cluster.kinds import Obj

Path = tuple[str, ...]
_OWNED_METADATA = ("annotations", "labels", "finalizers", "ownerReferences")
_OUTSIDE = ("apiVersion", "kind", "metadata", "status")


def recorded(before: Obj | None, after: Obj, manager: str, now: str) -> Obj:
    """Return `after` with the book brought up to date; `before` is None for a creation."""
    was = _leaves(before) if before is not None else {}
    now_has = _leaves(after)
    changed = {path for path, value in now_has.items() if was.get(path) != value}
    if not changed and was.keys() == now_has.keys():
        return after
    book = {
        entry["manager"]: (entry, _paths(entry["fieldsV1"]) & now_has.keys() - changed)
        for entry in after["metadata"].get("managedFields") or ()
    }
    if changed:
        own = book[manager][1] if manager in book else set()
        book[manager] = (_entry(after, manager, now), own | changed)
    entries = [
        {**entry, "fieldsV1": _tree(sorted(paths))} for entry, paths in book.values() if paths
    ]
    metadata = {**after["metadata"], "managedFields": entries}
    return {**after, "metadata": metadata}


def _entry(obj: Obj, manager: str, now: str) -> Obj:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": obj["apiVersion"],
        "time": now,
        "fieldsType": "FieldsV1",
    }


def _leaves(obj: Obj) -> dict[Path, Any]:
    """Every field that can have an owner, by path; lists are one field each."""
    metadata = {key: obj["metadata"][key] for key in _OWNED_METADATA if key in obj["metadata"]}
    owned = {key: value for key, value in obj.items() if key not in _OUTSIDE}
    return dict(_walk({"metadata": metadata, **owned}, ()))


def _walk(value: Any, path: Path) -> Iterable[tuple[Path, Any]]:
    if not isinstance(value, dict):
        yield path, value
        return
    for key, inner in value.items():
        yield from _walk(inner, (*path, f"f:{key}"))


def _paths(tree: Obj) -> set[Path]:
    """Every path of a tree that ends: the reverse of `_tree`."""
    return {(key, *rest) for key, inner in tree.items() for rest in (_paths(inner) or {()})}


def _tree(paths: Iterable[Path]) -> Obj:
    root: Obj = {}
    for path in paths:
        branch = root
        for step in path:
            branch = branch.setdefault(step, {})
    return root
