"""Where a Redfish service is, how to log in, and how gently to ask."""

from __future__ import annotations

import re
from pathlib import Path

from daemon.settings import Section
from exporter import address

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
FINGERPRINT = re.compile(r"^[0-9a-f]{64}$")


class EndpointSettings(Section, frozen=True):
    """One Redfish service; an empty `url` means that there is none.

    TLS is verified against the system's authorities, or against `ca_file`, or by
    the SHA-256 `fingerprint` of the service's certificate; `verify: false` turns
    that off, on purpose and in writing.
    """

    url: str = ""
    username_file: str = ""
    """Without a user name and a password the service is read anonymously."""
    password_file: str = ""
    ca_file: str = ""
    fingerprint: str = ""
    verify: bool = True
    interval_seconds: float = 60.0
    deadline_seconds: float = 45.0
    """One cycle sends no request after this; what was not asked is missing."""
    connect_timeout_seconds: float = 4.0
    read_timeout_seconds: float = 20.0
    discovery_interval_seconds: float = 3600.0
    auth_backoff_seconds: float = 900.0
    """No log-in is tried for this long after two were refused, unless the secret changes."""
    busy_backoff_limit_seconds: float = 300.0
    """Upper bound for what Retry-After may ask."""
    body_limit_bytes: int = 4 << 20

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.url:
            self._check_url()
        if bool(self.username_file) != bool(self.password_file):
            raise ValueError("expected username_file and password_file together, or neither")
        if self.fingerprint and not FINGERPRINT.match(self.pin):
            raise ValueError("expected fingerprint as 64 hexadecimal digits (SHA-256)")
        if self.fingerprint and (self.ca_file or not self.verify):
            raise ValueError("expected one of fingerprint, ca_file, verify: false")
        if self.ca_file and not self.verify:
            raise ValueError("expected one of fingerprint, ca_file, verify: false")
        self._check_numbers()

    @property
    def pin(self) -> str:
        """The fingerprint in the one form that is compared: lower case, no separators."""
        return self.fingerprint.replace(":", "").replace(" ", "").lower()

    @property
    def credentials(self) -> tuple[Path, Path] | None:
        """The files of user name and password, if the service asks for them."""
        if not self.username_file:
            return None
        return Path(self.username_file), Path(self.password_file)

    def _check_url(self) -> None:
        parts = address.split(self.url, "expected url as https://<BMC address>")
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError("expected url without a path; the reader adds /redfish/v1")
        if parts.scheme == "http" and self.verify and parts.hostname not in LOOPBACK:
            raise ValueError("http sends the password in clear: expected https, or verify: false")

    def _check_numbers(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, bool | str):
                continue
            if isinstance(value, int | float) and not 0 < value < float("inf"):
                raise ValueError(f"expected {name} above 0")


class BmcSettings(EndpointSettings, frozen=True):
    """The BMC of this node; an empty `url` means that the node is read without one."""

    chassis: str = ""
    """Id of this node's chassis, where one BMC serves several nodes."""
    stale_after_seconds: float = 180.0
    """A value of a metric report that lags the report by more is missing."""
    requests_per_cycle: int = 2
    """What is not needed each cycle takes turns within this; one turn there always is."""
    slow_cycles: int = 30
    """Everything has its turn within so many cycles, at the cost of more requests if need be."""
