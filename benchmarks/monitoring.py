"""Monitoring that bears out every alert of a benchmark, and says how long that took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.remediation.monitoring import Monitoring

if TYPE_CHECKING:
    from collections.abc import Iterable


class TimedMonitoring(Monitoring):
    """Alertmanager and Prometheus that bear out every alert, and note when they were asked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.spans: list[tuple[float, float]] = []

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        came = time.perf_counter()
        answer = super().__call__(environ, start_response)
        self.spans.append((came, time.perf_counter()))
        return answer

    def busy_between(self, began: float, ended: float) -> float:
        """Return the seconds from the first question to the last answer within a time."""
        spans = [span for span in self.spans if began < span[0] and span[1] < ended]
        return spans[-1][1] - spans[0][0] if spans else 0.0
