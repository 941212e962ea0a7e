"""The composition root: the only file that knows all the others, runnable inside a test."""

from __future__ import annotations

import socket
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from prometheus_client import CollectorRegistry

from daemon.serving import Server
from remediation.catalog import Catalog
from remediation.checkpoint_http import HttpHook
from remediation.evidence.endpoint import Endpoint
from remediation.evidence.http import HttpEvidence
from remediation.front.pages import Pages
from remediation.front.webhook import CALL_SECONDS, Webhook
from remediation.inbox import Inbox
from remediation.kube.cluster import KubeCluster
from remediation.kube.connection import connect
from remediation.kube.lease import KubeLease
from remediation.kube.ledger import ConfigMapLedger, LedgerMemory, ledger_feed, remember
from remediation.kube.mirror import Mirror
from remediation.leadership import Elector, renewal_call_seconds
from remediation.live_policy import LivePolicy
from remediation.loop import Loop, Pace
from remediation.ports import CallFailed, FailureReason
from remediation.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from daemon.clocks import Clock
    from remediation.kube.connection import Connection
    from remediation.kube.wire import ConfigMap
    from remediation.settings import Listener, Settings, Source

# A loop that has not ended a tick in this many of its longest waits stands still.
_STILL_TICKS = 20
_STILL_LEAST_SECONDS = 60.0


class App:
    """One replica.  `start` binds and begins, `close` resigns and ends.

    `path` is the settings file, watched for changes of the policy; `die` is
    called when only the end of the process keeps two leaders from acting.
    Raises `CallFailed` when the Kubernetes client cannot be configured,
    `TlsUnusable` when a certificate is not there.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        path: Path,
        clock: Clock,
        log: FilteringBoundLogger,
        die: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._log = log
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.registry = CollectorRegistry()
        self._catalog = Catalog(self.registry)
        self._report = Report(self._catalog, log, clock)
        self._live = LivePolicy(settings, path, self._catalog, log, changed=self._stir)
        kubernetes = settings.kubernetes
        self._connection = connect(
            kubeconfig=Path(kubernetes.kubeconfig) if kubernetes.kubeconfig else None,
            namespace=kubernetes.namespace,
            timeout_seconds=kubernetes.timeout,
        )
        # A lease is lost in seconds: its renewal must not try other callers' dead sockets in turn.
        self._lease_connection = self._connection.apart().within(
            renewal_call_seconds(
                duration_seconds=settings.lease.whole_seconds,
                retry_seconds=settings.lease.retry,
                timeout_seconds=kubernetes.timeout,
            )
        )
        self._session = requests.Session()
        # Connecting and answering may take a time-out each, and a call must end within one.
        self._hook = HttpHook(timeout_seconds=kubernetes.timeout / 2)
        self._memory = LedgerMemory()
        self._cluster = self._make_cluster(self._connection)
        self._ledger_watch = self._make_ledger_watch(self._connection)
        self._elector = self._make_elector(self._connection, die)
        self._inbox = Inbox(leads=lambda: self._elector.epoch() > 0, wake=self._stir)
        self._loop = self._make_loop(self._connection)
        self._webhook = _serve(settings.webhook, self._make_webhook())
        self._pages = _serve(settings.status, self._make_pages())
        self._started_monotonic = clock.monotonic()

    @property
    def webhook_port(self) -> int:
        """Where the webhook listens."""
        return self._webhook.port

    @property
    def status_port(self) -> int:
        """Where metrics and pages are."""
        return self._pages.port

    def start(self) -> None:
        """Bind both sockets and begin; raises `OSError` when an address is taken."""
        self._webhook.start()
        try:
            self._pages.start()
        except OSError:
            # Its threads would keep alive a process that cannot do its work.
            self._webhook.close()
            raise
        self._ledger_watch.start()
        for name, target in (("loop", self._run_loop), ("lease", self._run_elector)):
            thread = threading.Thread(target=target, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        settings = self._settings
        self._log.info(
            "remediation started",
            mode=settings.policy.mode.value,
            webhook_port=self.webhook_port,
            status_port=self.status_port,
        )

    def close(self) -> None:
        """Stop hearing, end the tick under way, give the lease back."""
        self._stop.set()
        self._loop.wake()
        self._webhook.close()
        for thread in self._threads:
            thread.join(timeout=self._settings.kubernetes.timeout * 2)
        self._ledger_watch.close()
        self._cluster.close()
        try:
            self._elector.resign()
        except CallFailed as failure:
            self._log.warning("lease not given back", error=str(failure))
        self._pages.close()
        self._session.close()
        self._hook.close()
        self._lease_connection.close()
        self._connection.close()

    def reload(self) -> None:
        """Take the policy of the settings file; a bad file changes nothing and says so."""
        self._live.reload()

    def watch(self, stop: threading.Event, reload: threading.Event) -> None:
        """Reload the policy when asked or when the file changes, until `stop`."""
        self._live.watch(stop, reload)

    def _run_loop(self) -> None:
        self._loop.run(self._stop)

    def _run_elector(self) -> None:
        led = False
        while not self._stop.is_set():
            failure = self._elector.attempt()
            if failure is not None:
                self._report.call_failed(failure)
            leads = self._elector.epoch() > 0
            if leads and not led:
                # A new leader has heard nothing: ask Alertmanager itself.
                self._loop.wake(poll=True)
            led = leads
            if failure is None or failure.reason is not FailureReason.TIMEOUT:
                self._stop.wait(self._settings.lease.retry)

    def _stir(self) -> None:
        self._loop.wake()

    def _make_elector(self, connection: Connection, die: Callable[[], None]) -> Elector:
        return Elector(
            KubeLease(self._lease_connection),
            identity=f"{socket.gethostname()}_{uuid.uuid4().hex[:12]}",
            duration_seconds=self._settings.lease.whole_seconds,
            call_seconds=self._settings.kubernetes.timeout,
            clock=self._clock,
            epoch_floor=lambda: ConfigMapLedger(connection).read().ledger.epoch,
            lost_while_acting=die,
        )

    def _make_cluster(self, connection: Connection) -> KubeCluster:
        settings = self._settings
        return KubeCluster(
            connection,
            selector=settings.pool.selector,
            gpu_resources=settings.pool.gpu_resources,
            stream_seconds=settings.pace.whole_watch_seconds,
            clock=self._clock,
            stirred=self._stir,
        )

    def _make_ledger_watch(self, connection: Connection) -> Mirror[str, ConfigMap]:
        def changed(_: ConfigMap | None, after: ConfigMap | None) -> None:
            # What another replica heard, or a person ordered there, is acted on at once.
            if remember(self._memory, after):
                self._loop.wake()

        return Mirror(
            ledger_feed(connection),
            stream_seconds=self._settings.pace.whole_watch_seconds,
            call_seconds=self._settings.kubernetes.timeout,
            clock=self._clock,
            changed=changed,
        )

    def _make_loop(self, connection: Connection) -> Loop:
        settings = self._settings
        return Loop(
            hook=self._hook,
            cluster=self._cluster,
            ledger=ConfigMapLedger(connection, self._memory),
            evidence=HttpEvidence(
                alertmanager=self._endpoint(settings.alertmanager),
                prometheus=self._endpoint(settings.prometheus),
                cluster=settings.cluster,
                distress=lambda: self._live.policy.distress.alerts,
                targets=lambda: self._live.policy.targets,
                gpus=lambda: bool(self._live.policy.gpu.causes),
                clock=self._clock,
            ),
            leadership=self._elector,
            policy=lambda: self._live.policy,
            pace=Pace(
                tick_seconds=settings.pace.tick_seconds, poll_seconds=settings.pace.poll_seconds
            ),
            clock=self._clock,
            report=self._report,
            waiting=self._inbox.waiting,
        )

    def _endpoint(self, source: Source) -> Endpoint:
        return Endpoint(
            source.url, session=self._session, timeout_seconds=source.timeout, token=source.token
        )

    def _make_webhook(self) -> Webhook:
        settings = self._settings
        return Webhook(
            token=settings.webhook.token,
            ledger=ConfigMapLedger(self._connection.within(CALL_SECONDS), self._memory),
            inbox=self._inbox,
            cluster=settings.cluster,
            limits=lambda: self._live.policy.limits,
            pool=lambda: status.nodes if (status := self._report.status) is not None else (),
            body_limit_bytes=settings.webhook.body_limit_bytes,
            heard=lambda poll: self._loop.wake(poll=poll),
            clock=self._clock,
            catalog=self._catalog,
            log=self._log,
        )

    def _make_pages(self) -> Pages:
        return Pages(
            registry=self.registry,
            token=self._settings.status.token,
            ledger=ConfigMapLedger(self._connection, self._memory),
            status=lambda: self._report.status,
            alive=self._alive,
            wake=self._loop.wake,
            clock=self._clock,
            log=self._log,
        )

    def _alive(self) -> bool:
        # A replica whose lease thread ended would stand by for ever and look well.
        if not all(thread.is_alive() for thread in self._threads):
            return False
        status = self._report.status
        last = status.ended_monotonic if status is not None else self._started_monotonic
        longest = max(_STILL_LEAST_SECONDS, _STILL_TICKS * self._settings.pace.tick_seconds)
        return self._clock.monotonic() - last < longest


def _serve(listener: Listener, application: object) -> Server:
    return Server(
        application,
        host=listener.host,
        port=listener.port,
        # The application refuses at the limit and counts it; the server stops what is far above.
        body_limit_bytes=4 * listener.body_limit_bytes,
        tls=listener.tls.files() if listener.tls is not None else None,
    )
