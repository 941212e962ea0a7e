"""Everything the exporter can be told; `deploy/config/exporter.example.yml` explains it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from daemon.secrets import SecretFile
from daemon.settings import Section
from daemon.tls import TlsSection
from exporter import address
from exporter.backfill.settings import BackfillSettings
from exporter.forecast.drift import Trust
from exporter.redfish.settings import BmcSettings
from exporter.window.roster import Declared

if TYPE_CHECKING:
    from collections.abc import Mapping

NODE_VARIABLE = "NODE_NAME"
NODE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NODE_CHARACTERS = 253
"""A subdomain of RFC 1123, as Kubernetes asks of the names of its nodes."""


def _positive(section: Section, *names: str) -> None:
    for name in names:
        value = getattr(section, name)
        if value is not None and not 0 < value < float("inf"):
            raise ValueError(f"expected {name} above 0, not {value}")


class Listen(Section, frozen=True):
    """Where the page is served, and who may read it."""

    host: str = "0.0.0.0"  # noqa: S104 - Prometheus comes from another machine
    port: int = 9477
    tls: TlsSection | None = None
    token_file: str = ""
    username_file: str = ""
    password_file: str = ""

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not 0 <= self.port <= 65535:
            raise ValueError(f"expected port from 0 to 65535, not {self.port}")
        if bool(self.username_file) != bool(self.password_file):
            raise ValueError("expected username_file and password_file together, or neither")

    @property
    def token(self) -> SecretFile | None:
        """The bearer token, if readers must present one."""
        return SecretFile(Path(self.token_file)) if self.token_file else None

    @property
    def user(self) -> tuple[SecretFile, SecretFile] | None:
        """User name and password, if readers may present them."""
        if not self.username_file:
            return None
        return SecretFile(Path(self.username_file)), SecretFile(Path(self.password_file))


class DcgmSettings(Section, frozen=True):
    """The dcgm-exporter of this node; an empty `url` means that there is none."""

    url: str = "http://127.0.0.1:9400/metrics"
    interval_seconds: float = 30.0
    deadline_seconds: float = 8.0

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.url:
            address.split(self.url, "expected url as http://<address>:9400/metrics")
        _positive(self, "interval_seconds", "deadline_seconds")


class RackSettings(Section, frozen=True):
    """The facility exporter that reads what cools and feeds this node's rack."""

    url: str = ""
    rack: str = ""
    """Empty: the rack that the facility exporter's page names for this node."""
    token_file: str = ""
    ca_file: str = ""
    interval_seconds: float = 60.0
    deadline_seconds: float = 8.0

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.url:
            address.split(self.url, "expected url as http://<facility exporter>:9477/metrics")
        _positive(self, "interval_seconds", "deadline_seconds")

    @property
    def token(self) -> SecretFile | None:
        """The bearer token that the page asks for, if it does."""
        return SecretFile(Path(self.token_file)) if self.token_file else None


class Breaker(Section, frozen=True):
    """When a source is left alone for longer than its interval."""

    failures: int = 5
    wait_limit_seconds: float = 300.0

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        _positive(self, "failures", "wait_limit_seconds")


class WindowSettings(Section, frozen=True):
    """The grid; without a `directory` the window does not survive a restart."""

    step_seconds: float | None = None
    minimum_fill_ratio: float = 0.5
    directory: str = ""

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        _positive(self, "step_seconds")
        if not 0 <= self.minimum_fill_ratio <= 1:
            raise ValueError("expected minimum_fill_ratio from 0 to 1")


class ModelSettings(Section, frozen=True):
    """Where artefacts appear: `<node>.onnx`, then `fleet.onnx`, then the bundled one."""

    directory: str = ""
    node_expected: bool = False
    check_interval_seconds: float = 10.0
    drift_limit_ratio: float = 0.05
    stale_after_seconds: float | None = 31_536_000.0
    any_gpu_count: bool = False

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        _positive(self, "check_interval_seconds", "stale_after_seconds")
        if not 0 < self.drift_limit_ratio <= 1:
            raise ValueError("expected drift_limit_ratio above 0 and at most 1")

    def trust(self) -> Trust:
        """Return where doubt in a model begins."""
        return Trust(self.drift_limit_ratio, self.stale_after_seconds, self.any_gpu_count)


class GpuSettings(Section, frozen=True):
    """Which GPUs this node must show: by UUID, or by number, or the most ever seen."""

    expected: tuple[str, ...] = ()
    count: int | None = None
    away: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.expected and self.count is not None:
            raise ValueError("expected either `expected` (UUIDs) or `count`, not both")
        for uuid in self.expected:
            if self.expected.count(uuid) > 1:
                raise ValueError(f"expected each GPU once, not {uuid!r} twice")
        if self.count is not None and self.count < 1:
            raise ValueError("expected count of at least 1; a planned absence goes to `away`")

    def declared(self) -> Declared:
        """Return what the site says of its GPUs."""
        return Declared(self.expected, self.count, frozenset(self.away))


class LogSettings(Section, frozen=True):
    """How much is said, and in which form."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = "auto"


class Settings(Section, frozen=True):
    """One exporter."""

    node: str = ""
    listen: Listen = Listen()
    dcgm: DcgmSettings = DcgmSettings()
    bmc: BmcSettings = BmcSettings()
    facility: RackSettings = RackSettings()
    breaker: Breaker = Breaker()
    window: WindowSettings = WindowSettings()
    backfill: BackfillSettings = BackfillSettings()
    model: ModelSettings = ModelSettings()
    gpus: GpuSettings = GpuSettings()
    log: LogSettings = LogSettings()

    def node_name(self, environment: Mapping[str, str] = os.environ) -> str:
        """Return the Kubernetes name of this node; raises `ValueError` where there is none.

        Never the machine's host name: it may differ from the node's, and then
        no alert would find its node.
        """
        name = self.node or environment.get(NODE_VARIABLE, "")
        if not name:
            raise ValueError(f"node: expected the node's name here or in ${NODE_VARIABLE}")
        if len(name) > NODE_CHARACTERS or not NODE.fullmatch(name):
            raise ValueError(
                f"{'node' if self.node else f'${NODE_VARIABLE}'}: {name[:NODE_CHARACTERS]!r}: "
                "expected a node's name in Kubernetes: lower-case letters, digits, - and ., "
                "beginning and ending with a letter or digit"
            )
        return name
