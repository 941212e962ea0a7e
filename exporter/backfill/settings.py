"""Which Prometheus knows this node's past, and how much may be asked of it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from daemon.secrets import SecretFile
from daemon.settings import Section

LABEL = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]*$")


class BackfillSettings(Section, frozen=True):
    """The query API of a Prometheus; an empty `url` means that a cold window fills by living."""

    url: str = ""
    token_file: str = ""
    username_file: str = ""
    password_file: str = ""
    ca_file: str = ""
    match: dict[str, str] = msgspec.field(default_factory=dict)
    """Labels that a series must carry beside `node`, where one server knows several clusters."""
    lookback_seconds: float = 259_200.0
    deadline_seconds: float = 300.0
    """One attempt ends after this, with nothing where it is not done."""
    timeout_seconds: float = 30.0
    retry_seconds: float = 60.0
    attempts: int = 3
    requests_limit: int = 200
    steps_per_request: int = 240
    body_limit_bytes: int = 32 << 20

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.url:
            self._check_url()
        if bool(self.username_file) != bool(self.password_file):
            raise ValueError("expected username_file and password_file together, or neither")
        if self.token_file and self.username_file:
            raise ValueError("expected either token_file or username_file and password_file")
        wrong = [label for label in self.match if not LABEL.match(label)]
        if wrong:
            raise ValueError(f"expected match to name labels, not {wrong[0]!r}")
        for name in ("lookback_seconds", "deadline_seconds", "timeout_seconds", "retry_seconds"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"expected {name} above 0")
        for name in ("attempts", "requests_limit", "steps_per_request", "body_limit_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"expected {name} of at least 1")

    @property
    def token(self) -> SecretFile | None:
        """The bearer token, read anew for each request."""
        return SecretFile(Path(self.token_file)) if self.token_file else None

    @property
    def user(self) -> tuple[SecretFile, SecretFile] | None:
        """User name and password, read anew for each request."""
        if not self.username_file:
            return None
        return SecretFile(Path(self.username_file)), SecretFile(Path(self.password_file))

    def _check_url(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected url as http://<prometheus>:9090")
        if parts.username or parts.password:
            raise ValueError("expected url without user name or password; they live in files")
        if parts.query or parts.fragment:
            raise ValueError("expected url without a query; the exporter adds /api/v1/query_range")
