"""One collection of the cluster as the server tells it: listed once, then watched.

A mirror that lost its stream is not the truth of a moment ago, it is unknown:
reading it then fails, and whoever decides holds still.  A stream is ended by
the server after a short time and taken up where it stood, so that a connection
that died without a word is noticed within that time.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from remediation.kube import wire
from remediation.kube.errors import calling
from remediation.ports import CallFailed, FailureReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from daemon.clocks import Clock

T = TypeVar("T")
K = TypeVar("K")

# Large enough that 300 nodes are one call, small enough that 10,000 do not lie in memory twice.
PAGE_ITEMS = 500
_RETRY_SECONDS = 0.2
_RETRY_MOST_SECONDS = 5.0
_PAGES = msgspec.json.Decoder(wire.Page)
_LINES = msgspec.json.Decoder(wire.Told)
_ABOUT = msgspec.json.Decoder(wire.About)


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """One object and the version it has."""

    value: T
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed(Generic[K, T]):
    """How to list and watch a collection, and how to read one of its objects.

    `page` takes a continuation and returns an open answer; `watch` takes a
    resource version and the seconds that the stream may last.
    """

    what: str
    page: Callable[[str], Any]
    watch: Callable[[str, int], Any]
    read: Callable[[bytes | msgspec.Raw], tuple[K, Held[T]]]


class Mirror(Generic[K, T]):
    """The collection by key, kept by a thread of its own from `start` to `close`.

    `stream_seconds` bounds one stream, `call_seconds` one call.  `changed` is
    called, on that thread, with what was held and what is held now.
    """

    def __init__(
        self,
        feed: Feed[K, T],
        *,
        stream_seconds: int,
        call_seconds: float,
        clock: Clock,
        changed: Callable[[T | None, T | None], None] = lambda _before, _after: None,
    ) -> None:
        self._feed = feed
        self._stream_seconds = stream_seconds
        self._call_seconds = call_seconds
        self._clock = clock
        self._changed = changed
        self._lock = threading.Lock()
        self._listed = threading.Event()
        self._stop = threading.Event()
        self._held: dict[K, Held[T]] = {}
        self._version = ""
        self._heard_monotonic: float | None = None
        self._lost: CallFailed | None = None
        self._stream: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to list and watch; starting twice is starting once."""
        with self._lock:
            if self._thread is None:
                name = f"mirror {self._feed.what}"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        with self._lock:
            stream, thread = self._stream, self._thread
        if stream is not None:
            _interrupt(stream)
        if thread is not None:
            thread.join(timeout=self._call_seconds)

    def values(self) -> Mapping[K, T]:
        """Return the collection as it is now; raises `CallFailed` when it is not known."""
        self.start()
        self._listed.wait(self._call_seconds)
        with self._lock:
            self._must_be_fresh()
            return {key: held.value for key, held in self._held.items()}

    def note(self, document: bytes) -> None:
        """Take in an object that the server answered to our own write: we must see what we did."""
        with calling(f"read answered {self._feed.what}"):
            key, held = self._feed.read(document)
        with self._lock:
            before = self._held.get(key)
            # What the stream took away stays away, however late the answer comes.
            if before is not None and not _newer(before.version, held.version):
                self._held[key] = held

    def _must_be_fresh(self) -> None:
        if self._lost is not None:
            raise CallFailed(str(self._lost), self._lost.reason)
        heard, longest = self._heard_monotonic, self._stream_seconds + 2 * self._call_seconds
        if heard is None or self._clock.monotonic() - heard > longest:
            message = f"{self._feed.what}: nothing heard for {longest:g} s"
            raise CallFailed(message, FailureReason.STALE)

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            began = self._clock.monotonic()
            try:
                if not self._version:
                    self._list()
                self._follow()
                failures = 0
            except CallFailed as failure:
                failures += 1
                self._lose(failure)
            # A server that ends every stream at once must not be asked without a pause.
            if self._clock.monotonic() - began < _RETRY_SECONDS:
                wait = _RETRY_SECONDS * 2 ** min(failures, 8)
                self._stop.wait(min(_RETRY_MOST_SECONDS, wait))

    def _lose(self, failure: CallFailed) -> None:
        with self._lock:
            self._lost = failure
            if not failure.may_have_happened:
                # Not the line but the place was lost: the history is gone, or makes no sense.
                self._version = ""
        self._listed.set()

    def _list(self) -> None:
        began = self._clock.monotonic()
        held: dict[K, Held[T]] = {}
        version, more = "", ""
        with calling(f"list {self._feed.what}"):
            while True:
                page = _PAGES.decode(self._feed.page(more).data)
                held.update(self._feed.read(item) for item in page.items or ())
                version, more = page.metadata.resource_version, page.metadata.continue_
                if not more:
                    break
        with self._lock:
            before, self._held = self._held, held
            self._version, self._heard_monotonic, self._lost = version, began, None
        self._listed.set()
        for key in {*before, *held}:
            self._tell(before.get(key), held.get(key))

    def _follow(self) -> None:
        try:
            with calling(f"watch {self._feed.what}"):
                self._read_stream()
        finally:
            with self._lock:
                self._stream = None

    def _read_stream(self) -> None:
        stream = self._feed.watch(self._version, self._stream_seconds)
        with self._lock:
            self._stream = stream
            self._heard_monotonic, self._lost = self._clock.monotonic(), None
        try:
            # Either `close` saw this stream and ends it, or it stopped us before we read.
            for line in () if self._stop.is_set() else _lines(stream):
                self._take(_LINES.decode(line))
        finally:
            stream.close()

    def _take(self, told: wire.Told) -> None:
        if told.type == "ERROR":
            about = _ABOUT.decode(told.object)
            message = f"watch {self._feed.what}: {about.code} {about.message}"
            raise CallFailed(message, FailureReason.STALE)
        if told.type == "BOOKMARK":
            version = _ABOUT.decode(told.object).metadata.resource_version
            with self._lock:
                self._version, self._heard_monotonic = version, self._clock.monotonic()
            return
        key, held = self._feed.read(told.object)
        with self._lock:
            before = self._held.get(key)
            self._version, self._heard_monotonic = held.version, self._clock.monotonic()
            if before is not None and _newer(before.version, held.version):
                return
            if told.type == "DELETED":
                self._held.pop(key, None)
            else:
                self._held[key] = held
        self._tell(before, None if told.type == "DELETED" else held)

    def _tell(self, before: Held[T] | None, after: Held[T] | None) -> None:
        was = before.value if before is not None else None
        now = after.value if after is not None else None
        if was != now:
            self._changed(was, now)


def _newer(held: str, told: str) -> bool:
    """Whether `held` is newer than what is `told`; versions are numbers to whoever compares."""
    return held.isdecimal() and told.isdecimal() and int(held) > int(told)


def _lines(stream: Any) -> Iterator[bytes]:
    """Yield whole lines; the server sends each event as one chunk, which is read as it comes."""
    rest = b""
    for chunk in stream.stream(1 << 16, decode_content=False):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line for line in whole if line)


def _interrupt(stream: Any) -> None:
    try:
        stream.shutdown()
    except (OSError, RuntimeError, ValueError, AttributeError):
        return  # it ended by itself
