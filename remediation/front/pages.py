"""The face: metrics, health, the status page, its JSON, and what people may order."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import jinja2
import msgspec
from prometheus_client.exposition import choose_encoder
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from remediation.front.desk import Desk, UnknownNode
from remediation.front.gate import Admission, SeldomLog, admission, answer, judge
from remediation.front.view import advice, ago, look
from remediation.names import EXPECTED, NODE, near
from remediation.policy.orders import Order, Verb
from remediation.ports import CallFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

    from prometheus_client import CollectorRegistry
    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from daemon.secrets import SecretFile
    from remediation.ports import LedgerStore
    from remediation.report import Status

_BODY_LIMIT_BYTES = 4096
_OF_ALL, _OF_A_NODE = "<any(pause, resume):verb>", "<any(hold, release):verb>"
_ROUTES = Map(
    [
        Rule("/", endpoint="page", methods=["GET"]),
        Rule("/metrics", endpoint="metrics", methods=["GET"]),
        Rule("/healthz", endpoint="healthz", methods=["GET"]),
        Rule("/readyz", endpoint="readyz", methods=["GET"]),
        Rule("/api/v1/status", endpoint="summary", methods=["GET"]),
        Rule("/api/v1/episodes", endpoint="episodes", methods=["GET"]),
        Rule("/api/v1/episodes/<node>", endpoint="episode", methods=["GET"]),
        Rule("/api/v1/budget", endpoint="budget", methods=["GET"]),
        Rule(f"/api/v1/{_OF_ALL}", endpoint="order", methods=["POST"]),
        Rule(f"/api/v1/episodes/<node>/{_OF_A_NODE}", endpoint="order", methods=["POST"]),
        Rule(f"/order/{_OF_ALL}", endpoint="form", methods=["GET", "POST"]),
        Rule(f"/order/{_OF_A_NODE}/<node>", endpoint="form", methods=["GET", "POST"]),
    ]
)
# No script, no foreign content, no frame around a form that asks for a token.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class _NotDone(Exception):
    """An order that was not taken: the HTTP status and what went wrong."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


class Pages:
    """A WSGI application.

    `status` returns what the last tick left; `alive` whether the loop still
    turns.  `wake` is called after an order was recorded.
    """

    def __init__(
        self,
        *,
        registry: CollectorRegistry,
        token: SecretFile,
        ledger: LedgerStore,
        status: Callable[[], Status | None],
        alive: Callable[[], bool],
        wake: Callable[[], None],
        clock: Clock,
        log: FilteringBoundLogger,
    ) -> None:
        self._registry = registry
        self._token = token
        self._status = status
        self._alive = alive
        self._clock = clock
        self._seldom = SeldomLog(log, clock)
        self._desk = Desk(
            ledger=ledger, status=status, wake=wake, clock=clock, log=log, seldom=self._seldom
        )
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("remediation.front"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        request.max_content_length = _BODY_LIMIT_BYTES
        try:
            endpoint, values = _ROUTES.bind_to_environ(environ).match()
            response = getattr(self, f"_{endpoint}")(request, **values)
        except RequestEntityTooLarge:
            response = answer(413, error=f"more than {_BODY_LIMIT_BYTES} bytes")
        except HTTPException as error:
            response = answer(error.code or 500, error=error.description or error.name)
        body: Iterable[bytes] = response(environ, start_response)
        return body

    def _html(self, template: str, *, code: int = 200, **values: object) -> Response:
        html = self._templates.get_template(template).render(**values)
        return Response(html, status=code, mimetype="text/html", headers=_HEADERS)

    def _page(self, _: Request) -> Response:
        status, now = self._status(), self._clock.wall()
        view = look(status, now) if status is not None else None
        return self._html("status.html", status=status, view=view, advice=advice)

    def _metrics(self, request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return Response(encode(self._registry), content_type=content_type)

    def _healthz(self, _: Request) -> Response:
        alive = self._alive()
        return Response(
            "ok\n" if alive else "the loop stands still\n", status=200 if alive else 503
        )

    def _readyz(self, _: Request) -> Response:
        """Ready means able to accept alerts: the ledger could be read at the last tick."""
        status = self._status()
        if status is None:
            return Response("no tick has ended yet\n", status=503)
        if status.failure:
            return Response(f"{status.failure}\n", status=503)
        return Response("".join(f"{line}\n" for line in _standing(status)))

    def _summary(self, _: Request) -> Response:
        status = self._status()
        if status is None:
            return answer(503, error="no tick has ended yet")
        return answer(
            200,
            sentence=status.sentence,
            mode=status.mode,
            leads=status.leads,
            holder=status.holder,
            failure=status.failure,
            pause=status.ledger.pause if status.ledger else None,
            breaker=status.ledger.breaker if status.ledger else None,
            scopes={scope: asdict(use) for scope, use in status.uses.items()},
            episodes=[asdict(finding) for finding in status.findings],
        )

    def _episodes(self, _: Request) -> Response:
        status = self._status()
        findings = status.findings if status is not None else ()
        return answer(200, episodes=[asdict(finding) for finding in findings])

    def _episode(self, _: Request, node: str) -> Response:
        """Tell all that is known of one node's story."""
        if not NODE.match(node):
            return answer(400, error=EXPECTED)
        status = self._status()
        if status is None or status.ledger is None:
            return answer(503, error=status.failure if status else "no tick has ended yet")
        return answer(200, **_story(status, node, self._clock.wall()))

    def _budget(self, _: Request) -> Response:
        status = self._status()
        if status is None or status.ledger is None:
            return answer(503, error=status.failure if status else "no tick has ended yet")
        return answer(
            200,
            scopes={scope: {**asdict(use)} for scope, use in status.uses.items()},
            breaker=status.ledger.breaker,
            pause=status.ledger.pause,
            grants=status.ledger.grants,
        )

    def _order(self, request: Request, verb: str, node: str = "") -> Response:
        refused = self._not_admitted(admission(request, self._token))
        if refused is not None:
            return answer(refused, error="expected the bearer token")
        try:
            order = msgspec.json.decode(request.get_data(), type=Order)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return answer(400, error=f"expected author and reason: {error}")
        try:
            in_pool = self._carry_out(Verb(verb), order, node)
        except _NotDone as wrong:
            return answer(wrong.code, error=str(wrong))
        told = {"in_pool": in_pool} if node else {}
        return answer(200, outcome=Verb(verb).done, **told)

    def _form(self, request: Request, verb: str, node: str = "") -> Response:
        """Ask for an order, or take it: for people with a browser and nothing else."""
        if request.method == "GET":
            return self._form_page(Verb(verb), node, "", "", "")
        author, reason = request.form.get("author", ""), request.form.get("reason", "")
        try:
            self._take_form(request, Verb(verb), node, author, reason)
        except _NotDone as wrong:
            return self._form_page(Verb(verb), node, author, reason, str(wrong), code=wrong.code)
        return Response("", status=303, headers={"Location": "/", **_HEADERS})

    def _form_page(
        self, verb: Verb, node: str, author: str, reason: str, error: str, *, code: int = 200
    ) -> Response:
        asked = {"verb": verb, "node": node, "author": author, "reason": reason}
        return self._html("order.html", code=code, error=error, unknown=code == 404, **asked)

    def _take_form(self, request: Request, verb: Verb, node: str, author: str, reason: str) -> None:
        refused = self._not_admitted(judge(request.form.get("token", "").strip(), self._token))
        if refused is not None:
            raise _NotDone(refused, "That is not the operator's token.")
        try:
            order = Order(author=author, reason=reason, anyway="anyway" in request.form)
        except ValueError as error:
            raise _NotDone(400, f"{error}.") from None
        self._carry_out(verb, order, node)

    def _not_admitted(self, found: Admission) -> int | None:
        if found is Admission.ADMITTED:
            return None
        unable = found is Admission.UNABLE
        self._seldom.warning("operator token not accepted", unreadable=unable)
        return 503 if unable else 401

    def _carry_out(self, verb: Verb, order: Order, node: str) -> bool | None:
        """Return whether the pool has the node, None when that is not known; raises `_NotDone`."""
        if verb.of_a_node and not NODE.match(node):
            raise _NotDone(400, EXPECTED)
        try:
            return self._desk.take(verb, order, node)
        except UnknownNode as unknown:
            raise _NotDone(404, str(unknown)) from None
        except CallFailed as failure:
            raise _NotDone(503, str(failure)) from None


def _story(status: Status, node: str, now: float) -> dict[str, Any]:
    ledger, found = status.ledger, status.nodes.get(node)
    assert ledger is not None  # noqa: S101 - checked by the caller
    finding = next((one for one in status.findings if one.node == node), None)
    return {
        "node": node,
        "in_pool": found is not None,
        "near": near(node, status.nodes) if found is None else (),
        "finding": asdict(finding) if finding is not None else None,
        "advice": advice(finding) if finding is not None else "",
        "mark": found.mark if found is not None else None,
        "ready": found.ready if found is not None else None,
        "unschedulable": found.unschedulable if found is not None else None,
        "cordoned_by": found.cordoned_by if found is not None else None,
        "suspects": [one for one in ledger.suspects.values() if one.node == node],
        "grant": ledger.grants.get(node),
        "hold": ledger.holds.get(node),
        "decisions": [
            {"ago": ago(now - told.at), "sentence": told.finding.sentence}
            for told in status.decisions
            if told.finding.node == node
        ],
    }


def _standing(status: Status) -> list[str]:
    lines = ["ok", "leads" if status.leads else f"stands by for {status.holder or 'nobody'}"]
    ledger = status.ledger
    if ledger is not None and ledger.pause is not None:
        lines.append(f"paused by {ledger.pause.author}: {ledger.pause.reason}")
    if ledger is not None and ledger.breaker.tripped_at is not None:
        lines.append(f"breaker open: {ledger.breaker.reason}")
    return lines
