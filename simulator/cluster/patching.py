"""The two patch formats that remediation uses, over JSON objects; both return a new object.

RFC 7396 merge patches, and the part of Kubernetes' strategic merge that nodes
and pods need. Most lists are atomic there, `spec.taints` first of all: a patch
with one taint replaces every other.
"""

from __future__ import annotations

from typing import Any

from simulator.cluster.refusals import Refused

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"

_MERGE_KEYS: dict[tuple[str, ...], str] = {
    ("metadata", "ownerReferences"): "uid",
    ("status", "conditions"): "type",
    ("status", "addresses"): "type",
}
"""Lists that a strategic patch merges by the value of one key."""

_UNIONS = {("metadata", "finalizers")}
"""Lists of plain values that a strategic patch adds to."""


def check_format(content_type: str) -> None:
    """Refuse with 415 what is neither of the two formats."""
    if content_type not in (MERGE, STRATEGIC):
        message = (
            "the body of the request was in an unknown format - accepted media types include:"
            f" {MERGE}, {STRATEGIC}"
        )
        raise Refused(415, "UnsupportedMediaType", message)


def apply(content_type: str, current: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Return `current` with `patch` applied as its content type says."""
    if content_type == MERGE:
        return _merge_map(current, patch)
    return _strategic_map(current, patch, ())


def _merge(current: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    return _merge_map(current if isinstance(current, dict) else {}, patch)


def _merge_map(current: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = dict(current)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def _strategic(current: Any, patch: Any, path: tuple[str, ...]) -> Any:
    if isinstance(patch, dict):
        return _strategic_map(current if isinstance(current, dict) else {}, patch, path)
    if isinstance(patch, list) and isinstance(current, list):
        if path in _UNIONS:
            return [*current, *(value for value in patch if value not in current)]
        if path in _MERGE_KEYS:
            return _strategic_list(current, patch, path)
    return patch


def _strategic_map(
    current: dict[str, Any], patch: dict[str, Any], path: tuple[str, ...]
) -> dict[str, Any]:
    if any(key.startswith("$") for key in patch):
        raise Refused(415, "UnsupportedMediaType", "patch directives are not offered here")
    merged = dict(current)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _strategic(merged.get(key), value, (*path, key))
    return merged


def _strategic_list(current: list[Any], patch: list[Any], path: tuple[str, ...]) -> list[Any]:
    key = _MERGE_KEYS[path]
    merged = {item[key]: item for item in current}
    for item in patch:
        merged[item[key]] = _strategic(merged.get(item[key]), item, ())
    return list(merged.values())
