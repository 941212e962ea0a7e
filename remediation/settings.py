"""The settings file: where everything is, and the policy.  Every default is in the example file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

from daemon.secrets import SecretFile
from daemon.settings import Section
from daemon.tls import TlsSection
from remediation.policy.bounds.limits import Policy

# Below this a busy machine looks like a dead server, however much time is compressed.
_LEAST_TIMEOUT_SECONDS = 0.5


_ANY = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - addresses that include every other


class Listener(Section, frozen=True, kw_only=True):
    """One listening socket and the token that its writers must present."""

    host: str = "0.0.0.0"  # noqa: S104 - pods are reached on their pod address
    port: int
    token_file: str
    body_limit_bytes: int = 8 << 20
    tls: TlsSection | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port is {self.port}, expected 0 to 65535")

    @property
    def token(self) -> SecretFile:
        """The token, read anew at each use."""
        return SecretFile(Path(self.token_file))


class Webhook(Listener, frozen=True, kw_only=True):
    """Where Alertmanager posts."""

    port: int = 9478
    token_file: str = "/etc/forewarn/webhook/token"  # noqa: S105 - a path


class StatusPage(Listener, frozen=True, kw_only=True):
    """Metrics, health, pages for people, and the pause."""

    port: int = 9479
    token_file: str = "/etc/forewarn/operator/token"  # noqa: S105 - a path


class Source(Section, frozen=True, kw_only=True):
    """An HTTP API that is read."""

    url: str
    token_file: str | None = None
    timeout_seconds: float = 5.0

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url is {self.url!r}, expected http:// or https://")

    @property
    def token(self) -> SecretFile | None:
        """The token, read anew at each use; None when none is needed."""
        return SecretFile(Path(self.token_file)) if self.token_file is not None else None

    @property
    def timeout(self) -> float:
        """Seconds a call may take, never so few that a healthy server looks dead."""
        return max(_LEAST_TIMEOUT_SECONDS, self.timeout_seconds)


class Alertmanager(Source, frozen=True, kw_only=True):
    """Where the alerts that fire now are read."""

    url: str = "http://alertmanager-operated.monitoring.svc:9093"


class Prometheus(Source, frozen=True, kw_only=True):
    """Where probabilities are re-read."""

    url: str = "http://prometheus-operated.monitoring.svc:9090"


class Kubernetes(Section, frozen=True, kw_only=True):
    """How to reach the API server; without a kubeconfig, as the pod's service account."""

    kubeconfig: str | None = None
    namespace: str = "forewarn"
    request_timeout_seconds: float = 3.0

    @property
    def timeout(self) -> float:
        """Seconds a call may take, never so few that a healthy server looks dead."""
        return max(_LEAST_TIMEOUT_SECONDS, self.request_timeout_seconds)


class Lease(Section, frozen=True, kw_only=True):
    """How leadership is kept."""

    duration_seconds: float = 15.0
    retry_seconds: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.retry_seconds <= self.duration_seconds / 3:
            raise ValueError(
                f"retry_seconds is {self.retry_seconds}, expected above 0 and at most "
                f"a third of duration_seconds ({self.duration_seconds})"
            )

    @property
    def whole_seconds(self) -> int:
        """The duration as Kubernetes counts it: whole seconds, and long enough for a few calls."""
        return max(3, math.ceil(self.duration_seconds))

    @property
    def retry(self) -> float:
        """Seconds between renewals; a lease that was made longer is not renewed more often."""
        return max(self.retry_seconds, self.whole_seconds / 15)


class Pool(Section, frozen=True, kw_only=True):
    """Which nodes may be acted on at all, and what counts as using a GPU."""

    selector: str = "nvidia.com/gpu.present=true"
    gpu_resources: tuple[str, ...] = ("nvidia.com/gpu", "nvidia.com/mig-")

    def __post_init__(self) -> None:
        if not self.selector.strip():
            raise ValueError("selector is empty, expected a label selector: empty never means all")
        if not self.gpu_resources or not all(self.gpu_resources):
            raise ValueError("gpu_resources is empty, expected resource names or their beginnings")


class Pace(Section, frozen=True, kw_only=True):
    """How often to look."""

    tick_seconds: float = 5.0
    poll_seconds: float = 60.0
    watch_seconds: float = 10.0

    def __post_init__(self) -> None:
        for name in ("tick_seconds", "poll_seconds", "watch_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0")

    @property
    def whole_watch_seconds(self) -> int:
        """How long a watch lasts as Kubernetes counts it: whole seconds, at least one."""
        return max(1, math.ceil(self.watch_seconds))


class Log(Section, frozen=True, kw_only=True):
    """How much is logged, and for whom."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    style: Literal["auto", "json", "console"] = "auto"


class Settings(Section, frozen=True, kw_only=True):
    """Everything.  `cluster` is the Prometheus external label; empty accepts every alert."""

    cluster: str = ""
    webhook: Webhook = Webhook()
    status: StatusPage = StatusPage()
    alertmanager: Alertmanager = Alertmanager()
    prometheus: Prometheus = Prometheus()
    kubernetes: Kubernetes = Kubernetes()
    lease: Lease = Lease()
    pool: Pool = Pool()
    pace: Pace = Pace()
    log: Log = Log()
    policy: Policy = Policy()

    def __post_init__(self) -> None:
        hosts = {self.webhook.host, self.status.host}
        if self.webhook.port == self.status.port != 0 and (len(hosts) == 1 or _ANY & hosts):
            raise ValueError(
                f"webhook.port and status.port are both {self.status.port}, expected two ports"
            )
        longest = self.lease.whole_seconds / 3
        if self.kubernetes.timeout > longest:
            raise ValueError(
                f"kubernetes.request_timeout_seconds is {self.kubernetes.timeout:g}, expected at "
                f"most a third of the lease ({longest:g} s): a leader must end a call in its time"
            )
