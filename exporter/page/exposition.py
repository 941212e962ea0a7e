"""Families as the classic text format, byte for byte as the client library writes it, but faster.

The library escapes and checks every name and label of every sample.  Here all
names are the catalogue's own, and the labels of one GPU, which return in each
of its families, are written once.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import TYPE_CHECKING

from prometheus_client import utils

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prometheus_client import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
GZIP_LEVEL = 1
"""A page shrinks to an eighth at any level; the highest costs six times the lowest."""

_number: Callable[[float], str] = utils.floatToGoString


def text(families: Iterable[Metric]) -> bytes:
    """Return gauges and counters in the classic format; raises `ValueError` for other types."""
    lines: list[str] = []
    written: dict[tuple[tuple[str, str], ...], str] = {}
    for family in families:
        name = _full_name(family)
        lines.append(f"# HELP {name} {_escaped_help(family.documentation)}\n")
        lines.append(f"# TYPE {name} {family.type}\n")
        for sample in family.samples:
            key = tuple(sample.labels.items())
            labels = written.get(key)
            if labels is None:
                labels = written[key] = _labels(sample.labels)
            lines.append(f"{sample.name}{labels} {_number(sample.value)}\n")
    return "".join(lines).encode()


def compressed(body: bytes) -> bytes:
    """Return `body` as gzip, without a time stamp, so that equal pages are equal bytes."""
    return gzip.compress(body, GZIP_LEVEL, mtime=0)


def _full_name(family: Metric) -> str:
    if family.type == "counter":
        return f"{family.name}_total"
    if family.type == "gauge":
        return family.name
    raise ValueError(f"{family.name} is a {family.type}, expected a gauge or a counter")


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{k}="{_escaped(labels[k])}"' for k in sorted(labels)) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _escaped_help(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n")
