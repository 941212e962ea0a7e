"""One log format: constant messages with fields, JSON lines unless a person watches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TextIO

import structlog

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger, Processor

LEVELS: dict[str, int] = {"debug": 10, "info": 20, "warning": 30, "error": 40}
Format = Literal["auto", "json", "console"]


def logger(
    component: str,
    *,
    level: str = "info",
    style: Format = "auto",
    stream: TextIO | None = None,
) -> FilteringBoundLogger:
    """Return a logger bound to `component`, writing to `stream` (default: stderr).

    Nothing is configured process-wide, so tests can hold several loggers.
    """
    out = stream if stream is not None else sys.stderr
    people = style == "console" or (style == "auto" and out.isatty())
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.dev.ConsoleRenderer(colors=out.isatty())
        if people
        else structlog.processors.JSONRenderer(),
    ]
    bound: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(out),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
    )
    return bound.bind(component=component)
