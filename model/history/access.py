"""Where a site's Prometheus is and how it lets us in, as the command line says it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from daemon.prometheus import Access
from daemon.secrets import SecretFile
from model.history.refused import AccessRefused

RAW_FORM = {"max_source_resolution": "0s", "dedup": "true"}
"""Thanos answers from downsampled blocks unless told not to; others do not know the words."""
TENANT_HEADER = "X-Scope-OrgID"


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query API; secrets are paths of files, never their contents."""

    url: str
    token_file: str = ""
    username_file: str = ""
    password_file: str = ""
    ca_file: str = ""
    tenant: str = ""
    timeout_seconds: float = 120.0

    def access(self) -> Access:
        """Return what the client takes; raises `AccessRefused`."""
        self._check()
        user, password = (SecretFile(Path(p)) for p in (self.username_file, self.password_file))
        return Access(
            url=self.url,
            ca_file=self.ca_file,
            token=SecretFile(Path(self.token_file)) if self.token_file else None,
            user=(user, password) if self.username_file else None,
            headers={TENANT_HEADER: self.tenant} if self.tenant else {},
            form=RAW_FORM,
            deadline_seconds=float("inf"),
            timeout_seconds=self.timeout_seconds,
            requests_limit=1_000_000,
            body_limit_bytes=24 << 20,
            busy_attempts=6,
            busy_wait_limit_seconds=300.0,
        )

    def _check(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise AccessRefused(f"{self.url!r}: expected http://<prometheus>:9090")
        if parts.username or parts.password:
            raise AccessRefused("expected an address without user name or password: use files")
        if parts.query or parts.fragment or parts.path.rstrip("/").endswith(("/api/v1", "_range")):
            raise AccessRefused(f"{self.url!r}: expected the address up to /api/v1, without it")
        if bool(self.username_file) != bool(self.password_file):
            raise AccessRefused("expected a user name file and a password file, or neither")
        if self.token_file and self.username_file:
            raise AccessRefused("expected a token file or a user name file, not both")
        if self.ca_file and not Path(self.ca_file).is_file():
            raise AccessRefused(f"{self.ca_file}: no such file, expected a CA certificate")
