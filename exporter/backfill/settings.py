"""Which Prometheus knows this node's past, and how much may be asked of it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from daemon.prometheus import Access
from daemon.secrets import SecretFile
from daemon.settings import Section
from exporter import address

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
    def access(self) -> Access:
        """The query API, as its client takes it."""
        files = [self.username_file, self.password_file]
        user, password = (SecretFile(Path(name)) for name in files)
        return Access(
            url=self.url,
            ca_file=self.ca_file,
            token=SecretFile(Path(self.token_file)) if self.token_file else None,
            user=(user, password) if self.username_file else None,
            deadline_seconds=self.deadline_seconds,
            timeout_seconds=self.timeout_seconds,
            requests_limit=self.requests_limit,
            body_limit_bytes=self.body_limit_bytes,
        )

    def _check_url(self) -> None:
        parts = address.split(self.url, "expected url as http://<prometheus>:9090")
        if parts.query or parts.fragment:
            raise ValueError("expected url without a query; the exporter adds /api/v1/query_range")
