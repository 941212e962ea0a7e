"""The verbs of the API over the store: requests in, answers out; no socket here."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from simulator.cluster import (
    discovery,
    eviction,
    ownership,
    patching,
    refusals,
    selectors,
    watching,
)
from simulator.cluster.admission import admit_change, admit_new
from simulator.cluster.deletion import begin_deletion, check_preconditions
from simulator.cluster.kinds import BUDGETS, NAMESPACES, PODS
from simulator.cluster.refusals import Refused
from simulator.cluster.routes import (
    Answer,
    NoSuchPath,
    Request,
    Target,
    Watching,
    find_target,
    namespace_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from daemon.clocks import Clock
    from simulator.cluster.kinds import Kind, Obj
    from simulator.cluster.selectors import Matcher
    from simulator.cluster.store import Store

VERSION: Obj = {
    "major": "1",
    "minor": "37",
    "gitVersion": "v1.37.2",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "simulated",
}
_OPEN_PATHS = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_WATCH_SECONDS = 1800.0
"""How long a watch lasts when the client does not say."""


class Api:
    """Answers requests on one store; `tokens` maps bearer tokens to user names."""

    def __init__(self, store: Store, clock: Clock, tokens: Mapping[str, str]) -> None:
        self.closing = threading.Event()
        self._store = store
        self._clock = clock
        self._tokens = tokens
        self._evicting = threading.Lock()

    def answer(self, request: Request) -> Answer | Watching:
        """Carry out one request; a refusal is an answer too."""
        try:
            self._authenticate(request)
            if request.path.rstrip("/") == "/version":
                return Answer(200, VERSION)
            if request.path in _OPEN_PATHS:
                return Answer(200, "ok")
            offered = discovery.answer(request.path) if request.method == "GET" else None
            if offered is not None:
                return Answer(200, offered)
            return self._dispatch(request, find_target(request.path))
        except Refused as refused:
            return _refusal(refused)
        except NoSuchPath:
            return Answer(404, "404 page not found\n")

    def _authenticate(self, request: Request) -> None:
        scheme, _, token = request.authorization.partition(" ")
        if scheme.lower() == "bearer" and token not in self._tokens:
            raise Refused(401, "Unauthorized", "Unauthorized")
        if not token and request.path not in _OPEN_PATHS:
            message = f'forbidden: User "system:anonymous" cannot {request.method} {request.path}'
            raise Refused(403, "Forbidden", message)

    def _dispatch(self, request: Request, target: Target) -> Answer | Watching:
        if target.subresource == "eviction" and target.kind is PODS and request.method == "POST":
            return self._evict(request, target)
        if target.subresource not in ("", "status"):
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        if not target.name:
            return self._on_collection(request, target)
        match request.method:
            case "GET":
                return Answer(200, self._store.get(target.kind, namespace_of(target), target.name))
            case "PUT":
                return self._replace(request, target)
            case "PATCH":
                return self._patch(request, target)
            case "DELETE":
                return self._delete(request, target)
        raise _not_allowed()

    def _on_collection(self, request: Request, target: Target) -> Answer | Watching:
        if request.method == "POST":
            return Answer(201, self._create(request, target))
        if request.method != "GET":
            raise _not_allowed()
        chosen = _chosen(request, target)
        if request.flag("watch"):
            return Watching(self._watch(request, target.kind, chosen))
        items, revision = self._store.view(target.kind, target.namespace or None)
        return Answer(200, _listing(target.kind, [obj for obj in items if chosen(obj)], revision))

    def _watch(self, request: Request, kind: Kind, chosen: Matcher) -> Iterator[Obj]:
        return watching.events(
            self._store,
            kind,
            chosen,
            since=watching.revision_of(request.query.get("resourceVersion", "")),
            timeout_seconds=float(request.query.get("timeoutSeconds", _WATCH_SECONDS)),
            bookmarks=request.flag("allowWatchBookmarks"),
            monotonic=self._clock.monotonic,
            stop=self.closing,
        )

    def _create(self, request: Request, target: Target) -> Obj:
        kind, namespace = target.kind, namespace_of(target)
        if kind.namespaced:
            self._store.get(NAMESPACES, "", namespace)
        admitted = admit_new(kind, request.document(), namespace)
        booked = ownership.recorded(None, admitted, request.manager, self._store.now())
        return self._store.create(kind, booked)

    def _changed(self, request: Request, target: Target, before: Obj, after: Obj) -> Obj:
        """What a client's PUT or PATCH of `before` to `after` leaves."""
        admitted = admit_change(target.kind, before, after, target.subresource)
        return ownership.recorded(before, admitted, request.manager, self._store.now())

    def _replace(self, request: Request, target: Target) -> Answer:
        kind, namespace, name = target.kind, namespace_of(target), target.name
        document = request.document()
        sent = document.get("metadata") or {}
        if sent.get("name") != name:
            raise refusals.bad_request(
                f"the name of the object ({sent.get('name')}) does not match"
                f" the name on the URL ({name})"
            )

        def replaced(before: Obj) -> Obj:
            check_preconditions(kind, before, {"preconditions": {"uid": sent.get("uid")}})
            _check_revision(kind, before, sent.get("resourceVersion"), required=True)
            return self._changed(request, target, before, document)

        try:
            return Answer(200, self._store.write(kind, namespace, name, replaced))
        except Refused as refused:
            if refused.code == 404 and kind.create_on_update:
                return Answer(201, self._create(request, target))
            raise

    def _patch(self, request: Request, target: Target) -> Answer:
        kind = target.kind
        patching.check_format(request.content_type)
        patch = request.document()
        expected = (patch.get("metadata") or {}).get("resourceVersion")

        def patched(before: Obj) -> Obj:
            _check_revision(kind, before, expected, required=False)
            after = patching.apply(request.content_type, before, patch)
            return self._changed(request, target, before, after)

        return Answer(200, self._store.write(kind, namespace_of(target), target.name, patched))

    def _delete(self, request: Request, target: Target) -> Answer:
        kind, options = target.kind, request.document()
        grace = request.query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
        seconds = None if grace is None else int(grace)

        def deleted(before: Obj) -> Obj | None:
            check_preconditions(kind, before, options)
            return begin_deletion(kind, before, seconds, self._store.now())

        gone = self._store.write(kind, namespace_of(target), target.name, deleted)
        return Answer(200, gone if kind is PODS else _success(200))

    def _evict(self, request: Request, target: Target) -> Answer:
        document = request.document()
        namespace, name = namespace_of(target), target.name
        if (document.get("metadata") or {}).get("name") != name:
            raise refusals.bad_request("name in URL does not match name in Eviction object")
        options = document.get("deleteOptions") or {}
        dry_run = "All" in (*options.get("dryRun", ()), request.query.get("dryRun"))
        with self._evicting:
            pod = self._store.get(PODS, namespace, name)
            check_preconditions(PODS, pod, options)
            budgets, _ = self._store.view(BUDGETS, namespace)
            budget = eviction.budget_to_charge(pod, budgets)
            if not dry_run:
                self._carry_out(pod, budget, options)
        return Answer(201, _success(201))

    def _carry_out(self, pod: Obj, budget: Obj | None, options: Obj) -> None:
        now = self._store.now()
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if budget is not None:
            self._store.write(
                BUDGETS,
                namespace,
                budget["metadata"]["name"],
                lambda before: eviction.charged(before, pod, now),
            )
        seconds = options.get("gracePeriodSeconds")
        self._store.write(
            PODS,
            namespace,
            name,
            lambda before: begin_deletion(PODS, eviction.marked(before, now), seconds, now),
        )


def _chosen(request: Request, target: Target) -> Matcher:
    labels = selectors.label_matcher(request.query.get("labelSelector", ""))
    fields = selectors.field_matcher(target.kind, request.query.get("fieldSelector", ""))
    namespace = target.namespace

    def chosen(obj: Obj) -> bool:
        if namespace and obj["metadata"].get("namespace") != namespace:
            return False
        return labels(obj) and fields(obj)

    return chosen


def _check_revision(kind: Kind, before: Obj, sent: str | None, *, required: bool) -> None:
    name = before["metadata"]["name"]
    if sent:
        if sent != before["metadata"]["resourceVersion"]:
            raise refusals.stale(kind, name)
    elif required and not kind.unconditional_update:
        field = "metadata.resourceVersion"
        raise refusals.invalid(
            kind, name, field, "Invalid value: 0: must be specified for an update"
        )


def _listing(kind: Kind, items: list[Obj], revision: int) -> Obj:
    bare = [{k: v for k, v in obj.items() if k not in ("kind", "apiVersion")} for obj in items]
    metadata = {"resourceVersion": str(revision)}
    return {
        "kind": f"{kind.kind}List",
        "apiVersion": kind.api_version,
        "metadata": metadata,
        "items": bare,
    }


def _refusal(refused: Refused) -> Answer:
    after = refused.status.get("details", {}).get("retryAfterSeconds")
    return Answer(refused.code, refused.status, {"Retry-After": str(after)} if after else {})


def _success(code: int) -> Obj:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code}


def _not_allowed() -> Refused:
    message = "the server does not allow this method on the requested resource"
    return Refused(405, "MethodNotAllowed", message)
