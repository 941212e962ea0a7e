"""How objects go: grace, finalizers, preconditions. Pure; `Store.write` carries it out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from simulator.cluster import refusals

if TYPE_CHECKING:
    from simulator.cluster.kinds import Kind, Obj

_STAMP = "%Y-%m-%dT%H:%M:%SZ"


def check_preconditions(kind: Kind, obj: Obj, options: Obj) -> None:
    """Refuse with 409 when the uid or resourceVersion asked for is not the object's."""
    wanted = options.get("preconditions") or {}
    metadata = obj["metadata"]
    for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        value = wanted.get(field)
        if value is not None and value != metadata[field]:
            raise refusals.conflict(
                kind,
                metadata["name"],
                f"Precondition failed: {label} in precondition: {value},"
                f" {label} in object meta: {metadata[field]}",
            )


def begin_deletion(kind: Kind, obj: Obj, grace_seconds: int | None, now: str) -> Obj | None:
    """Return the object marked for deletion, or None when it goes at once.

    Asking again never lengthens a grace that already runs.
    """
    grace = _grace(kind, obj, grace_seconds)
    finalizers = obj["metadata"].get("finalizers")
    if grace == 0 and not finalizers:
        return None
    running = obj["metadata"].get("deletionGracePeriodSeconds")
    if running is not None and grace >= running:
        return obj
    until = datetime.strptime(now, _STAMP).replace(tzinfo=UTC) + timedelta(seconds=grace)
    marked = {
        **obj["metadata"],
        "deletionTimestamp": until.strftime(_STAMP),
        "deletionGracePeriodSeconds": grace,
    }
    return {**obj, "metadata": marked}


def _grace(kind: Kind, obj: Obj, asked: int | None) -> int:
    """Seconds the kubelet gets; a pod on no node, or one that has ended, needs none."""
    if not kind.graceful or not obj["spec"].get("nodeName"):
        return 0
    if obj["status"].get("phase") in ("Succeeded", "Failed"):
        return 0
    return asked if asked is not None else int(obj["spec"]["terminationGracePeriodSeconds"])
