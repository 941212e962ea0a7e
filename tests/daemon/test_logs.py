"""Log lines are JSON with a constant message and fields."""

from __future__ import annotations

import io
import json

from daemon.logs import logger


def test_a_line_is_json_with_component_and_fields() -> None:
    out = io.StringIO()
    logger("exporter", stream=out).info("source failed", source="dcgm", reason="http_500")
    line = json.loads(out.getvalue())
    assert line["event"] == "source failed"
    assert (line["component"], line["source"], line["reason"]) == ("exporter", "dcgm", "http_500")


def test_lines_below_the_level_are_not_written() -> None:
    out = io.StringIO()
    logger("exporter", level="warning", stream=out).info("quiet")
    assert out.getvalue() == ""
