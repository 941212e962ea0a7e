"""A server that says line by line what a test tells it to, behind a mirror's feed."""

from __future__ import annotations

import json
import queue
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from remediation.kube.mirror import Feed, Held

if TYPE_CHECKING:
    from collections.abc import Iterator


def an_object(name: str, value: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": str(version)}, "value": value}


def event(kind: str, name: str, value: str, version: int) -> dict[str, Any]:
    return {"type": kind, "object": an_object(name, value, version)}


@dataclass
class _Answer:
    data: bytes


@dataclass
class _Stream:
    lines: queue.Queue[Any]
    closed: bool = False

    def stream(self, _: int, *, decode_content: bool) -> Iterator[bytes]:
        while (line := self.lines.get()) is not None:
            if isinstance(line, Exception):
                raise line
            yield line

    def shutdown(self) -> None:
        self.lines.put(None)

    def close(self) -> None:
        self.closed = True


@dataclass
class Server:
    """Pages of a list, and streams; `lines` feeds whichever stream is open."""

    pages: list[list[dict[str, Any]]] = field(default_factory=lambda: [[]])
    version: int = 10
    lines: queue.Queue[Any] = field(default_factory=queue.Queue)
    listed: int = 0
    watched_from: list[str] = field(default_factory=list)
    refuses: Exception | None = None

    def feed(self) -> Feed[str, str]:
        return Feed(what="things", page=self._page, watch=self._watch, read=_read)

    def say(self, line: dict[str, Any]) -> None:
        self.lines.put(json.dumps(line).encode() + b"\n")

    def _page(self, more: str) -> _Answer:
        if self.refuses is not None:
            raise self.refuses
        number = int(more or 0)
        self.listed += number == 0
        last = number == len(self.pages) - 1
        metadata = {
            "resourceVersion": str(self.version),
            "continue": "" if last else str(number + 1),
        }
        return _Answer(json.dumps({"metadata": metadata, "items": self.pages[number]}).encode())

    def _watch(self, version: str, seconds: int) -> _Stream:
        if self.refuses is not None:
            raise self.refuses
        self.watched_from.append(version)
        return _Stream(self.lines)


def _read(document: Any) -> tuple[str, Held[str]]:
    found = json.loads(bytes(document))
    metadata = found["metadata"]
    return metadata["name"], Held(found["value"], metadata["resourceVersion"])
