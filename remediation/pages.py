"""The face: metrics, health, the status page, its JSON, and the pause."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import jinja2
import msgspec
from msgspec.structs import replace
from prometheus_client.exposition import choose_encoder
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from remediation.gate import Admission, SeldomLog, admission, answer
from remediation.policy.ledger import Breaker, Ledger, Pause
from remediation.ports import CallFailed, swap

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
_ROUTES = Map(
    [
        Rule("/", endpoint="page", methods=["GET"]),
        Rule("/metrics", endpoint="metrics", methods=["GET"]),
        Rule("/healthz", endpoint="healthz", methods=["GET"]),
        Rule("/readyz", endpoint="readyz", methods=["GET"]),
        Rule("/api/v1/episodes", endpoint="episodes", methods=["GET"]),
        Rule("/api/v1/budget", endpoint="budget", methods=["GET"]),
        Rule("/api/v1/pause", endpoint="pause", methods=["POST"]),
        Rule("/api/v1/resume", endpoint="resume", methods=["POST"]),
    ]
)


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who asks and why; both are shown to everybody."""

    author: str
    reason: str

    def __post_init__(self) -> None:
        for name in ("author", "reason"):
            if not 0 < len(getattr(self, name).strip()) <= 200:
                raise ValueError(f"{name} must have 1 to 200 characters")


class Pages:
    """A WSGI application.

    `status` returns what the last tick left; `alive` whether the loop still
    turns.  `wake` is called after a pause or resume was recorded.
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
        self._ledger = ledger
        self._status = status
        self._alive = alive
        self._wake = wake
        self._clock = clock
        self._log = log
        self._seldom = SeldomLog(log, clock)
        templates = jinja2.Environment(
            loader=jinja2.PackageLoader("remediation"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
        )
        self._template = templates.get_template("status.html")

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        request.max_content_length = _BODY_LIMIT_BYTES
        try:
            endpoint, _ = _ROUTES.bind_to_environ(environ).match()
            response = getattr(self, f"_{endpoint}")(request)
        except HTTPException as error:
            response = answer(error.code or 500, error=error.description or error.name)
        body: Iterable[bytes] = response(environ, start_response)
        return body

    def _page(self, _: Request) -> Response:
        status = self._status()
        ledger = status.ledger if status is not None else None
        html = self._template.render(status=status, ledger=ledger)
        return Response(html, mimetype="text/html")

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

    def _episodes(self, _: Request) -> Response:
        status = self._status()
        findings = status.findings if status is not None else ()
        return answer(200, episodes=[asdict(finding) for finding in findings])

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

    def _pause(self, request: Request) -> Response:
        now = self._clock.wall()
        return self._ordered(
            request,
            "paused",
            lambda order, ledger: replace(
                ledger, pause=Pause(author=order.author, reason=order.reason, since=now)
            ),
        )

    def _resume(self, request: Request) -> Response:
        """End the pause and re-arm the breaker: somebody looked and says go on."""
        return self._ordered(
            request, "resumed", lambda _, ledger: replace(ledger, pause=None, breaker=Breaker())
        )

    def _ordered(
        self, request: Request, done: str, change: Callable[[Order, Ledger], Ledger]
    ) -> Response:
        found = admission(request, self._token)
        if found is not Admission.ADMITTED:
            unable = found is Admission.UNABLE
            self._seldom.warning("operator token not accepted", unreadable=unable)
            return answer(503 if unable else 401, error="expected the bearer token")
        try:
            order = msgspec.json.decode(request.get_data(), type=Order)
            swap(self._ledger, lambda ledger: change(order, ledger))
        except RequestEntityTooLarge:
            return answer(413, error=f"more than {_BODY_LIMIT_BYTES} bytes")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return answer(400, error=f"expected author and reason: {error}")
        except CallFailed as failure:
            self._seldom.warning("order not recorded", order=done, error=str(failure))
            return answer(503, error=str(failure))
        self._log.info("order", done=done, author=order.author, reason=order.reason)
        self._wake()
        return answer(200, outcome=done)


def _standing(status: Status) -> list[str]:
    lines = ["ok", "leads" if status.leads else f"stands by for {status.holder or 'nobody'}"]
    ledger = status.ledger
    if ledger is not None and ledger.pause is not None:
        lines.append(f"paused by {ledger.pause.author}: {ledger.pause.reason}")
    if ledger is not None and ledger.breaker.tripped_at is not None:
        lines.append(f"breaker open: {ledger.breaker.reason}")
    return lines
