"""Watch streams: the log as one client sees it through its selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.cluster.refusals import Refused, bad_request

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from simulator.cluster.kinds import Kind, Obj
    from simulator.cluster.selectors import Matcher
    from simulator.cluster.store import Change, Store

_POLL_SECONDS = 0.5
"""How soon a quiet stream notices that the cluster closes or its own time is up."""


def events(
    store: Store,
    kind: Kind,
    chosen: Matcher,
    *,
    since: int,
    timeout_seconds: float,
    bookmarks: bool,
    monotonic: Callable[[], float],
    stop: threading.Event,
) -> Iterator[Obj]:
    """Yield watch events until the time is up, the cluster closes or the history is lost.

    `since` 0 starts with what exists now. A revision that the log
    no longer reaches is answered in the stream, as an ERROR event with code 410.
    """
    revision = since
    if revision == 0:
        items, revision = store.view(kind)
        yield from ({"type": "ADDED", "object": obj} for obj in items if chosen(obj))
    end = monotonic() + timeout_seconds
    while not stop.is_set() and (left := end - monotonic()) > 0:
        try:
            changes = store.changes_after(revision, min(left, _POLL_SECONDS))
        except Refused as refused:
            yield {"type": "ERROR", "object": refused.status}
            return
        for change in changes:
            revision = change.revision
            if change.kind is kind and (event := _seen(change, chosen)) is not None:
                yield event
    if bookmarks and not stop.is_set():
        yield _bookmark(kind, revision)


def revision_of(since: str) -> int:
    """Read a client's resourceVersion; empty means from what exists now, like 0."""
    if not since:
        return 0
    if not since.isdecimal():
        raise bad_request(f'invalid resource version "{since}"')
    return int(since)


def _seen(change: Change, chosen: Matcher) -> Obj | None:
    """An object that starts to match is ADDED to this client, one that ceases is DELETED."""
    was = change.before is not None and chosen(change.before)
    is_now = chosen(change.obj) and change.type != "DELETED"
    if is_now:
        return {"type": "MODIFIED" if was else "ADDED", "object": change.obj}
    return {"type": "DELETED", "object": change.obj} if was else None


def _bookmark(kind: Kind, revision: int) -> Obj:
    about = {"resourceVersion": str(revision), "creationTimestamp": None}
    return {
        "type": "BOOKMARK",
        "object": {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": about},
    }
