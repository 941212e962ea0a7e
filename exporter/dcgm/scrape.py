"""One bounded GET per cycle from the node's own dcgm-exporter."""

from __future__ import annotations

import http.client
from collections import Counter
from typing import TYPE_CHECKING

import requests
import urllib3

from daemon import reach
from exporter.dcgm import identity, text
from exporter.dcgm.watch import PageWatch
from exporter.readings import Reason, SourceFailed, SourceName, SourceReadings
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Callable

BODY_LIMIT_BYTES = 16 << 20
LINES_LIMIT, GPU_LIMIT = 100_000, 256
"""Far beyond any node: 16 GPUs, each cut into 48 shares, with the whole counter list."""
ONE_NODE = "expected a page of one node"
CHUNK_BYTES = 64 << 10
ERROR_BYTES, ERROR_CHARACTERS = 4_096, 160
EXPECTED = "expected the page of dcgm-exporter there"
FRESH_CYCLES = 3
"""Readings that do not change for longer than this many intervals are no readings of now."""
STATUS_REASONS = {
    401: Reason.UNAUTHORIZED,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    500: Reason.HTTP_500,
    503: Reason.HTTP_503,
}
FOREIGN_CONTENT = ("text/html", "application/json", "application/vnd.google.protobuf")


class DcgmSource:
    """The page of one dcgm-exporter.

    The whole answer must arrive within `deadline_seconds`: the exporter's own
    server gives up after ten.  `interval_seconds` is how often it collects.  The
    session belongs to this source.
    """

    name = SourceName.DCGM

    def __init__(
        self,
        url: str,
        session: requests.Session,
        *,
        deadline_seconds: float,
        interval_seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._url = url
        self._session = session
        self._deadline_seconds = deadline_seconds
        self._monotonic = monotonic
        self._watch = PageWatch(FRESH_CYCLES * interval_seconds)

    def read(self, now: float) -> SourceReadings:
        """Ask once; raises `SourceFailed`, also for an answer without a GPU sample."""
        try:
            return self._read(now)
        except SourceFailed as failure:
            self._watch.failed(failure.reason)
            raise

    def _read(self, now: float) -> SourceReadings:
        body, cut, openmetrics = self._get()
        if not body.strip():
            raise SourceFailed(Reason.EMPTY, f"{self._url}: an empty page, expected samples")
        page = self._page(body, openmetrics=openmetrics)
        if not (cut or page.whole):
            cut = f"after {len(body)} bytes, within its last line"
        complete = not cut
        folded = identity.fold(page.samples, whole=complete)
        if not folded.gpus:
            raise _without_gpus(self._url, page)
        watch = self._watch
        folded = watch.see(page.samples, folded, now) if complete else watch.glance(folded)
        errors = Counter(folded.errors)
        errors[Reason.BAD_LINE] += page.bad_lines
        errors[Reason.TRUNCATED] += not complete
        return SourceReadings(
            source=self.name,
            values=folded.values,
            missing=folded.missing,
            gpus=folded.gpus,
            workloads=folded.workloads,
            departures=self._watch.departures,
            errors=+errors,
            strategy="openmetrics" if openmetrics else "text",
            complete=complete,
            cut=cut,
        )

    def _page(self, body: bytes, *, openmetrics: bool) -> text.Page:
        """Read a page of one node; a whole cluster's would take minutes and all memory."""
        lines = body.count(b"\n")
        if lines > LINES_LIMIT:
            raise SourceFailed(Reason.TOO_LARGE, f"{self._url}: {lines} lines, {ONE_NODE}")
        page = text.read(body, _wanted, openmetrics=openmetrics)
        gpus = len({identity.uuid_of(sample.labels) for sample in page.samples})
        if gpus > GPU_LIMIT:
            raise SourceFailed(Reason.TOO_LARGE, f"{self._url}: {gpus} GPUs, {ONE_NODE}")
        return page

    def close(self) -> None:
        """Drop the connection."""
        self._session.close()

    def _get(self) -> tuple[bytes, str, bool]:
        """Return the body, where it was cut if it was, and whether it is OpenMetrics."""
        deadline = self._monotonic() + self._deadline_seconds
        try:
            with self._session.get(
                self._url, timeout=self._deadline_seconds, stream=True, allow_redirects=False
            ) as response:
                _check(response, self._url)
                body, cut = self._body(response, deadline)
                kind = response.headers.get("Content-Type", "")
                return body, cut, kind.startswith("application/openmetrics-text")
        except requests.Timeout as error:
            raise SourceFailed(Reason.TIMEOUT, f"{self._url}: no answer in time") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            reason = Reason.TLS if reach.is_tls(error) else Reason.UNREACHABLE
            raise SourceFailed(
                reason, f"{self._url}: {reach.plainly(error)}, {EXPECTED}"
            ) from error

    def _body(self, response: requests.Response, deadline: float) -> tuple[bytes, str]:
        """Return what arrived, and where it was cut; short reads, so that the deadline holds."""
        parts: list[bytes] = []
        size = 0
        try:
            while part := response.raw.read1(CHUNK_BYTES, decode_content=True):
                parts.append(part)
                size += len(part)
                if size > BODY_LIMIT_BYTES:
                    raise SourceFailed(
                        Reason.TOO_LARGE,
                        f"{self._url}: over {BODY_LIMIT_BYTES} bytes, {ONE_NODE}",
                    )
                if self._monotonic() > deadline:
                    raise SourceFailed(Reason.TIMEOUT, f"{self._url}: the page came too slowly")
        except urllib3.exceptions.ReadTimeoutError as error:
            raise SourceFailed(Reason.TIMEOUT, f"{self._url}: the page stopped coming") from error
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError):
            return b"".join(parts), _where(response, size)
        return b"".join(parts), ""


def _where(response: requests.Response, size: int) -> str:
    """Say where a body ended too early, in bytes as they were sent where their number is known."""
    promised, lacking = response.headers.get("Content-Length", ""), response.raw.length_remaining
    if promised.isdecimal() and lacking:
        return f"at {int(promised) - lacking} of {promised} bytes"
    return f"after {size} bytes"


def _wanted(name: str) -> bool:
    if dcgm.fields(name) or dcgm.is_legacy(name):
        return True
    return name.upper().startswith(dcgm.XID_COUNTS)


def _check(response: requests.Response, url: str) -> None:
    status = response.status_code
    if 300 <= status < 400:
        raise SourceFailed(Reason.REDIRECTED, f"{url}: redirected, expected the page itself")
    if status != 200:
        reason = STATUS_REASONS.get(status, Reason.HTTP_OTHER)
        said = _first_line(response)
        raise SourceFailed(reason, f"{url}: status {status}, expected 200{said}")
    kind = response.headers.get("Content-Type", "")
    if kind.startswith(FOREIGN_CONTENT):
        raise SourceFailed(Reason.BAD_CONTENT, f"{url}: {kind[:60]}, expected text exposition")


def _first_line(response: requests.Response) -> str:
    """Return what the server said of its error: one sick GPU or switch fails the whole page."""
    try:
        text = response.raw.read1(ERROR_BYTES, decode_content=True).decode("utf-8", "replace")
    except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError):
        return ""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f"; it says: {words[:ERROR_CHARACTERS]}" if words else ""


def _without_gpus(url: str, page: text.Page) -> SourceFailed:
    if any(dcgm.is_legacy(sample.name) for sample in page.samples):
        return SourceFailed(Reason.LEGACY_NAMES, f"{url}: {dcgm.LEGACY_HINT}")
    return SourceFailed(Reason.NO_SAMPLES, f"{url}: a page without one sample of a GPU")
