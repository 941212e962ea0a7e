"""R27: a call that stalls, is lost or meets a dead connection does not cost the leadership."""

from __future__ import annotations

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from daemon.clocks import system_clock
from remediation.kube.connection import connect
from remediation.kube.lease import KubeLease
from remediation.leadership import Elector, LeaseRecord, renewal_call_seconds
from remediation.ports import CallFailed, FailureReason
from tests.remediation.memory import HandClock, MemoryLease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CALL_SECONDS, RETRY_SECONDS, DURATION_SECONDS = 3.0, 2.0, 15
LEASE_CALL_SECONDS = renewal_call_seconds(
    duration_seconds=DURATION_SECONDS, retry_seconds=RETRY_SECONDS, timeout_seconds=CALL_SECONDS
)


class SlowLease(MemoryLease):
    """A lease where some writes are done, but answered later than anybody waits."""

    def __init__(self, time: HandClock, is_slow: Callable[[], bool]) -> None:
        super().__init__()
        self.time = time
        self.is_slow = is_slow

    def write(self, record: LeaseRecord, *, now: float) -> None:
        super().write(record, now=now)
        if self.is_slow():
            self.time.pass_time(LEASE_CALL_SECONDS)
            raise CallFailed("write lease: no answer in time", FailureReason.TIMEOUT)


def elector(store: Any, clock: Any, identity: str = "us") -> tuple[Elector, list[str]]:
    deaths: list[str] = []
    made = Elector(
        store,
        identity=identity,
        duration_seconds=DURATION_SECONDS,
        call_seconds=CALL_SECONDS,
        clock=clock,
        epoch_floor=lambda: 0,
        lost_while_acting=lambda: deaths.append(identity),
    )
    return made, deaths


def test_r27_one_put_that_was_done_and_not_answered_is_looked_up_and_gone_on_from() -> None:
    time = HandClock()
    slow = iter([False, True])
    lease = SlowLease(time, lambda: next(slow, False))
    us, deaths = elector(lease, time.clock)
    assert us.attempt() is None
    time.pass_time(RETRY_SECONDS)
    failure = us.attempt()
    assert failure is not None
    assert failure.reason is FailureReason.TIMEOUT
    assert us.epoch() == 1, "three tries fit into the lease: one that failed takes nothing"
    time.pass_time(RETRY_SECONDS)
    assert us.attempt() is None
    assert (us.epoch(), deaths) == (1, [])
    assert lease.record is not None
    assert (lease.record.holder, lease.record.transitions) == ("us", 1)


def test_r27_a_write_refused_for_our_own_late_one_is_no_loss() -> None:
    """The answer to the old version is 409: whoever reads again is still the holder."""
    time = HandClock()
    lease = MemoryLease()
    us, _ = elector(lease, time.clock)
    us.attempt()
    stale = lease.read()
    assert stale is not None
    lease.write(stale, now=0)
    reads = iter([stale])

    class Behind(MemoryLease):
        def read(self) -> LeaseRecord | None:
            return next(reads, None) or lease.read()

        def write(self, record: LeaseRecord, *, now: float) -> None:
            lease.write(record, now=now)

    # The same replica, one cache behind.
    us._store = Behind()
    assert us.attempt() is None
    assert us.attempt() is None
    assert us.epoch() == 1


def renew(us: Elector, time: HandClock) -> None:
    """One turn of the lease's thread: what stalled has waited long enough."""
    if us.attempt() is None:
        time.pass_time(RETRY_SECONDS)


def test_r27_a_hundredth_of_slow_puts_never_costs_the_lease() -> None:
    time, dice = HandClock(), random.Random(27)
    lease = SlowLease(time, lambda: dice.random() < 0.01)
    us, deaths = elector(lease, time.clock)
    with us.acting():
        for _ in range(20_000):
            renew(us, time)
    assert lease.record is not None
    assert (lease.record.transitions, deaths) == (1, [])


def test_r27_two_stalled_puts_in_a_row_leave_time_for_a_third() -> None:
    time = HandClock()
    slow = iter([False, True, True])
    lease = SlowLease(time, lambda: next(slow, False))
    us, deaths = elector(lease, time.clock)
    with us.acting():
        for _ in range(5):
            renew(us, time)
    assert lease.record is not None
    assert (lease.record.transitions, us.epoch(), deaths) == (1, 1, [])


def test_r27_when_every_put_stalls_it_stops_before_anybody_may_begin() -> None:
    time = HandClock()
    stalls = threading.Event()
    lease = SlowLease(time, stalls.is_set)
    us, _ = elector(lease, time.clock)
    rival, _ = elector(lease, time.clock, "rival")
    us.attempt()
    rival.attempt()
    last_success = time.now
    lease.broken = True
    while us.epoch():
        time.pass_time(0.5)
        us.attempt()
    assert time.now - last_success <= DURATION_SECONDS * 2 / 3 - CALL_SECONDS + 0.5
    lease.broken = False
    rival.attempt()
    assert rival.epoch() == 0, "a rival waits the whole duration"


class DeadSockets(BaseHTTPRequestHandler):
    """An API server with one Lease; sockets that were open at `die` never say anything again."""

    protocol_version = "HTTP/1.1"
    server: Any

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.add(self.client_address)
        if self.client_address in self.server.dead:
            self.server.closing.wait(30)
            self.close_connection = True
            return
        document = self.server.lease
        if body:
            document |= {"spec": json.loads(body)["spec"]}
            version = int(document["metadata"]["resourceVersion"]) + 1
            document["metadata"]["resourceVersion"] = str(version)
        text = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = _any  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Nothing to tell."""


@pytest.fixture
def api() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), DeadSockets)
    server.daemon_threads = True
    server.seen, server.dead, server.closing = set(), set(), threading.Event()
    server.lease = {"metadata": {"name": "x", "resourceVersion": "1"}, "spec": {}}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


def test_r27_a_black_holed_connection_costs_one_call_and_not_the_lease(
    api: Any, tmp_path: Path
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "clusters": [
                    {"name": "x", "cluster": {"server": f"http://127.0.0.1:{api.server_port}"}}
                ],
                "users": [{"name": "x", "user": {}}],
                "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
            }
        )
    )
    shared = connect(kubeconfig=path, namespace="fw", timeout_seconds=0.2)
    apart = shared.apart()
    us, _ = elector(KubeLease(apart), system_clock())
    others = [threading.Thread(target=KubeLease(shared).read) for _ in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert us.attempt() is None
    api.dead = set(api.seen)
    failures = [us.attempt() for _ in range(3)]
    assert [failure is not None for failure in failures] == [True, False, False]
    assert us.epoch() == 1
    apart.close()
    shared.close()
