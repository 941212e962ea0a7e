"""What the exporter answers over HTTP: the page, its health, and a few lines for people."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from exporter.page import absence, exposition
from exporter.window import blindness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry

    from exporter.grid import View
    from exporter.page.gate import Gate, Refusal

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered to anybody: the kubelet, which asks, has neither token nor certificate."""
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid #ddd;vertical-align:top}"
)


class Pages:
    """The WSGI application: `/metrics`, `/healthz`, `/readyz` and `/`.

    `landing` makes the page for people, `alive` is the heartbeat.  Neither health
    nor readiness asks a device: with dead hardware the page is needed most.  `gate`
    guards the rest.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        landing: Callable[[], str],
        *,
        alive: Callable[[], bool],
        ready: Callable[[], bool],
        gate: Gate,
    ) -> None:
        self._registry = registry
        self._landing = landing
        self._alive = alive
        self._ready = ready
        self._gate = gate

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        path = environ.get("PATH_INFO", "/")
        if environ.get("REQUEST_METHOD") not in {"GET", "HEAD"}:
            return _text(start_response, "405 Method Not Allowed", "expected GET\n")
        if path == "/healthz":
            return _verdict(start_response, self._alive(), "the heart has stopped")
        if path == "/readyz":
            return _verdict(start_response, self._ready(), "starting")
        refusal = self._gate.refuse(environ)
        if refusal is not None:
            return _refused(start_response, refusal)
        if path == "/metrics":
            return self._metrics(environ, start_response)
        if path == "/":
            return _text(start_response, "200 OK", self._landing(), kind="text/html")
        return _text(start_response, "404 Not Found", "expected /metrics, /healthz or /readyz\n")

    def _metrics(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        body = exposition.text(self._registry.collect())
        headers = [("Content-Type", exposition.CONTENT_TYPE)]
        if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            body = exposition.compressed(body)
            headers.append(("Content-Encoding", "gzip"))
        start_response("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return [body]


def _verdict(start_response: Any, good: bool, otherwise: str) -> Iterable[bytes]:
    if good:
        return _text(start_response, "200 OK", "ok\n")
    return _text(start_response, "503 Service Unavailable", f"{otherwise}\n")


def _refused(start_response: Any, refusal: Refusal) -> Iterable[bytes]:
    challenge = [("WWW-Authenticate", refusal.challenge)] if refusal.challenge else []
    return _text(start_response, refusal.status, refusal.line, more=challenge)


def _text(
    start_response: Any,
    status: str,
    body: str,
    *,
    kind: str = "text/plain",
    more: Iterable[tuple[str, str]] = (),
) -> Iterable[bytes]:
    payload = body.encode()
    headers = [("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(payload)))]
    start_response(status, [*headers, *more])
    return [payload]


def landing(view: View) -> str:
    """Return the page for people: what is predicted, from what, and what is missing."""
    forecast = view.forecast
    facts = [
        ("State", forecast.state),
        ("Degraded by", ", ".join(sorted(forecast.degraded)) or "nothing"),
        ("Failure probability", _probability(view)),
        ("Model", _model(view)),
        ("Window", f"{forecast.fill_ratio:.0%} read"),
        ("GPUs", f"{_count(view)} seen of {view.snapshot.expected_count or 'unknown'}"),
        ("Channels the model misses", ", ".join(forecast.missing_channels) or "none"),
    ]
    sources = [
        (str(name), "up" if s.up else "down", s.failure or "", s.detail)
        for name, s in view.snapshot.sources.items()
    ]
    blind = blindness.blind(view.snapshot)
    without = [
        (one.channel.name, one.kind, one.field, one.advice, one.channel.absent) for one in blind
    ]
    dark = {one.channel.name for one in blind}
    missing = [
        (place.channel, place.uuid or "node", kind)
        for place, kind in sorted(view.snapshot.missing.items(), key=lambda item: str(item[0]))
        if place.channel not in dark
    ]
    bmc = absence.witness(view.snapshot)
    gone = [(left.uuid, absence.sentence(left, bmc)) for left in view.snapshot.departures]
    return (
        f"<!doctype html><html lang=en><title>Forewarn: {escape(view.node)}</title>"
        f"<style>{STYLE}</style><h1>{escape(view.node)}</h1>"
        f"{table(facts)}<h2>Sources</h2>{table(sources)}"
        f"<h2>Missing GPUs</h2>{table(gone)}"
        f"<h2>Blind channels</h2>{table(without)}"
        f"<h2>Single readings missing</h2>{table(missing)}"
        "<p><a href=/metrics>metrics</a> <a href=/healthz>health</a></html>\n"
    )


def _probability(view: View) -> str:
    forecast = view.forecast
    if forecast.prediction is None or forecast.in_force is None:
        return "withdrawn"
    horizons = forecast.in_force.predictor.info.horizons
    pairs = zip(horizons, forecast.prediction.node, strict=True)
    return ", ".join(f"{p:.2%} in {h}" for h, p in pairs)


def _model(view: View) -> str:
    if view.in_force is None:
        return "; ".join(view.shelf.refused.values()) or "none found"
    info = view.in_force.predictor.info
    return f"{info.version} ({info.provenance}, {info.scope})"


def _count(view: View) -> str:
    return "unknown" if view.snapshot.seen is None else str(len(view.snapshot.seen))


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows of cells as HTML, escaped."""
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
