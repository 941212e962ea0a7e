"""One bounded GET per cycle from the node's own dcgm-exporter."""

from __future__ import annotations

import http.client
from collections import Counter
from typing import TYPE_CHECKING

import requests
import urllib3

from exporter.dcgm import identity, text
from exporter.readings import Reason, SourceFailed, SourceName, SourceReadings
from model.sources import dcgm

if TYPE_CHECKING:
    from collections.abc import Callable

BODY_LIMIT_BYTES = 16 << 20
CHUNK_BYTES = 64 << 10
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
    server gives up after ten.  The session belongs to this source.
    """

    name = SourceName.DCGM

    def __init__(
        self,
        url: str,
        session: requests.Session,
        *,
        deadline_seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._url = url
        self._session = session
        self._deadline_seconds = deadline_seconds
        self._monotonic = monotonic

    def read(self, now: float) -> SourceReadings:  # noqa: ARG002 - nothing here depends on it
        """Ask once; raises `SourceFailed`, also for an answer without a GPU sample."""
        body, whole, openmetrics = self._get()
        if not body.strip():
            raise SourceFailed(Reason.EMPTY, f"{self._url}: an empty page, expected samples")
        page = text.read(body, _wanted, openmetrics=openmetrics)
        folded = identity.fold(page.samples, whole=whole and page.whole)
        if not folded.gpus:
            raise _without_gpus(self._url, page)
        errors = Counter(folded.errors)
        errors[Reason.BAD_LINE] += page.bad_lines
        errors[Reason.TRUNCATED] += not (whole and page.whole)
        return SourceReadings(
            source=self.name,
            values=folded.values,
            missing=folded.missing,
            gpus=folded.gpus,
            workloads=folded.workloads,
            errors=+errors,
            strategy="openmetrics" if openmetrics else "text",
            complete=whole and page.whole,
        )

    def close(self) -> None:
        """Drop the connection."""
        self._session.close()

    def _get(self) -> tuple[bytes, bool, bool]:
        """Return the body, whether it is whole, and whether it is OpenMetrics."""
        deadline = self._monotonic() + self._deadline_seconds
        try:
            with self._session.get(
                self._url, timeout=self._deadline_seconds, stream=True, allow_redirects=False
            ) as response:
                _check(response, self._url)
                body, whole = self._body(response, deadline)
                kind = response.headers.get("Content-Type", "")
                return body, whole, kind.startswith("application/openmetrics-text")
        except requests.Timeout as error:
            raise SourceFailed(Reason.TIMEOUT, f"{self._url}: no answer in time") from error
        except requests.exceptions.SSLError as error:
            raise SourceFailed(Reason.TLS, f"{self._url}: {_short(error)}") from error
        except requests.RequestException as error:
            raise SourceFailed(Reason.UNREACHABLE, f"{self._url}: {_short(error)}") from error

    def _body(self, response: requests.Response, deadline: float) -> tuple[bytes, bool]:
        """Return what arrived, and whether it is all; short reads, so that the deadline holds."""
        parts: list[bytes] = []
        size = 0
        try:
            while part := response.raw.read1(CHUNK_BYTES, decode_content=True):
                parts.append(part)
                size += len(part)
                if size > BODY_LIMIT_BYTES:
                    raise SourceFailed(
                        Reason.TOO_LARGE,
                        f"{self._url}: over {BODY_LIMIT_BYTES} bytes, expected a page of one node",
                    )
                if self._monotonic() > deadline:
                    raise SourceFailed(Reason.TIMEOUT, f"{self._url}: the page came too slowly")
        except urllib3.exceptions.ReadTimeoutError as error:
            raise SourceFailed(Reason.TIMEOUT, f"{self._url}: the page stopped coming") from error
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError):
            return b"".join(parts), False
        return b"".join(parts), True


def _wanted(name: str) -> bool:
    return bool(dcgm.fields(name)) or dcgm.is_legacy(name)


def _check(response: requests.Response, url: str) -> None:
    status = response.status_code
    if 300 <= status < 400:
        raise SourceFailed(Reason.REDIRECTED, f"{url}: redirected, expected the page itself")
    if status != 200:
        reason = STATUS_REASONS.get(status, Reason.HTTP_OTHER)
        raise SourceFailed(reason, f"{url}: status {status}, expected 200")
    kind = response.headers.get("Content-Type", "")
    if kind.startswith(FOREIGN_CONTENT):
        raise SourceFailed(Reason.BAD_CONTENT, f"{url}: {kind[:60]}, expected text exposition")


def _without_gpus(url: str, page: text.Page) -> SourceFailed:
    if any(dcgm.is_legacy(sample.name) for sample in page.samples):
        return SourceFailed(Reason.LEGACY_NAMES, f"{url}: {dcgm.LEGACY_HINT}")
    return SourceFailed(Reason.NO_SAMPLES, f"{url}: a page without one sample of a GPU")


def _short(error: Exception) -> str:
    return str(error)[:200]
