"""The ear: Alertmanager's posts, accepted durably and answered within a second.

2xx only after the suspects are in the ledger, or when there is nothing to keep;
503 when they could not be kept, which Alertmanager repeats; never 3xx, which
would lose the body, and never 429, which it does not repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from remediation.alert import AlertsUndecodable, Ignored, Post, read_post
from remediation.catalog import PostOutcome
from remediation.front.gate import Admission, SeldomLog, admission, answer
from remediation.inbox import Recording
from remediation.policy.facts.suspects import LedgerFull, without_ghosts
from remediation.ports import CallFailed, Conflict, swap

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from daemon.secrets import SecretFile
    from remediation.catalog import Catalog
    from remediation.inbox import Inbox, Ticket
    from remediation.policy.bounds.limits import Limits
    from remediation.ports import LedgerStore

PATH = "/api/v1/alerts"

# The answer is promised within a second: a read and a write take at most twice
# connecting and reading, so this is the longest that each may take ...
CALL_SECONDS = 0.2
# ... and no attempt begins later than this.
LAST_ATTEMPT_SECONDS = 0.15
# How long the leader's loop may take to record a post with what follows from it.
INBOX_SECONDS = 0.1
# How much longer, when the post was found recorded meanwhile, to hear whose write that was.
CROSSED_SECONDS = 0.1


class Webhook:
    """A WSGI application with one path.

    `ledger` must answer within `CALL_SECONDS` a call; it is written here only
    when `inbox` did not have it done.  `pool` returns the names of its nodes, none
    while they are not known.  `heard` is called after something new was
    accepted; True asks it to look at Alertmanager itself.
    """

    def __init__(
        self,
        *,
        token: SecretFile,
        ledger: LedgerStore,
        inbox: Inbox,
        cluster: str,
        limits: Callable[[], Limits],
        pool: Callable[[], Collection[str]],
        body_limit_bytes: int,
        heard: Callable[[bool], None],
        clock: Clock,
        catalog: Catalog,
        log: FilteringBoundLogger,
    ) -> None:
        self._token = token
        self._ledger = ledger
        self._inbox = inbox
        self._cluster = cluster
        self._limits = limits
        self._pool = pool
        self._body_limit = body_limit_bytes
        self._heard = heard
        self._clock = clock
        self._catalog = catalog
        self._log = SeldomLog(log, clock)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        request.max_content_length = self._body_limit
        response: Iterable[bytes] = self._respond(request)(environ, start_response)
        return response

    def _respond(self, request: Request) -> Response:
        if request.path != PATH:
            return answer(404, error=f"only {PATH} is here")
        if request.method != "POST":
            return answer(405, error="only POST is understood")
        outcome, response = self._post(request)
        self._catalog.posts.labels(outcome).inc()
        return response

    def _post(self, request: Request) -> tuple[PostOutcome, Response]:
        refused = self._refuse(request)
        if refused is not None:
            return refused
        try:
            post = read_post(self._body(request), cluster=self._cluster)
        except RequestEntityTooLarge:
            self._log.warning("webhook body too large", expected_at_most=self._body_limit)
            return PostOutcome.TOO_LARGE, answer(413, error=f"more than {self._body_limit} bytes")
        except AlertsUndecodable as error:
            self._log.warning("webhook body undecodable", error=str(error))
            return PostOutcome.UNDECODABLE, answer(400, error=str(error))
        return self._keep(post)

    def _body(self, request: Request) -> bytes:
        body = request.get_data()
        if request.content_length is None and len(body) >= self._body_limit:
            # Sent in chunks, of which the rest was not read: half a post is none.
            raise RequestEntityTooLarge
        return body

    def _refuse(self, request: Request) -> tuple[PostOutcome, Response] | None:
        found = admission(request, self._token)
        if found is Admission.UNABLE:
            self._log.warning("webhook token unreadable", file=str(self._token.path))
            return PostOutcome.UNAVAILABLE, answer(503, error="the token cannot be checked")
        if found is Admission.REFUSED:
            self._log.warning("webhook token wrong", client=request.remote_addr or "")
            return PostOutcome.UNAUTHORIZED, answer(401, error="expected the bearer token")
        return None

    def _keep(self, post: Post) -> tuple[PostOutcome, Response]:
        post = self._without_ghosts(post)
        for reason in post.ignored:
            self._catalog.ignored.labels(reason).inc()
        if post.truncated:
            # What was left out counts as told for Alertmanager: only its API still knows.
            self._log.warning("webhook post truncated", missing=post.truncated)
            self._heard(True)
        if post.astray:
            self._log.warning(
                "webhook alerts not usable",
                reasons=post.astray,
                example=post.stray,
                expected_cluster=self._cluster,
            )
        if not post.alerts:
            return self._nothing_kept(post)
        try:
            return self._record(post)
        except LedgerFull as error:
            self._log.warning("ledger full", error=str(error))
            return PostOutcome.LEDGER_FULL, answer(503, error=str(error))
        except CallFailed as failure:
            self._log.warning("webhook post not kept", error=str(failure))
            self._catalog.errors.labels("kubernetes", failure.reason).inc()
            return PostOutcome.UNAVAILABLE, answer(503, error=str(failure))

    def _without_ghosts(self, post: Post) -> Post:
        """Leave out what concerns nodes that the pool does not have, but for a few to be seen."""
        last = self._ledger.last()
        suspects = last.ledger.suspects if last is not None else {}
        heard = without_ghosts(suspects, post.alerts, self._pool(), self._limits())
        return post.keeping(heard, Ignored.NOT_IN_POOL)

    def _nothing_kept(self, post: Post) -> tuple[PostOutcome, Response]:
        """Tell what is none of our business from what was meant for us and does not fit.

        Both are 200: sent again, it would not fit any better.
        """
        if not post.astray:
            return PostOutcome.NOTHING_TO_DO, answer(200, outcome="nothing to do")
        cluster = self._cluster
        return PostOutcome.UNUSABLE, answer(
            200, outcome="unusable", reasons=post.astray, expected_cluster=cluster
        )

    def _record(self, post: Post) -> tuple[PostOutcome, Response]:
        began, now = self._clock.monotonic(), self._clock.wall()
        with self._inbox.offered(post.alerts, now=now) as ticket:
            recorded = ticket.wait(INBOX_SECONDS) if ticket is not None else None
        if recorded is None:
            recorded = self._record_beside(ticket, Recording(post.alerts, now), began)
        return _kept(post) if recorded else _known()

    def _record_beside(self, ticket: Ticket | None, own: Recording, began: float) -> bool:
        """Return whether the post was news to the ledger, whoever of the two got it there."""
        try:
            changed = self._record_alone(own, began)
        except Conflict:
            # What was there first, and left no time to try again, may be the loop's own record.
            recorded = ticket.wait(CROSSED_SECONDS) if ticket is not None else None
            if recorded is None:
                raise
            return recorded
        if changed:
            self._heard(False)
        return changed or (ticket is not None and ticket.crossed(CROSSED_SECONDS))

    def _record_alone(self, recording: Recording, began: float) -> bool:
        limits = self._limits()

        def out_of_time() -> bool:
            return self._clock.monotonic() - began > LAST_ATTEMPT_SECONDS

        swap(
            self._ledger,
            lambda ledger: recording.onto(ledger, limits),
            out_of_time=out_of_time,
            answer_lost=recording.answer_lost,
        )
        return recording.changed


def _known() -> tuple[PostOutcome, Response]:
    return PostOutcome.NO_CHANGE, answer(200, outcome="known already")


def _kept(post: Post) -> tuple[PostOutcome, Response]:
    return PostOutcome.ACCEPTED, answer(200, outcome="accepted", alerts=len(post.alerts))
