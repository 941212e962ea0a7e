"""Alertmanager's alerts as typed values: webhook posts and the alert list of its API.

Lenient where Alertmanager grows (unknown keys), strict about the version, which
changes when keys mean something else, and about what is acted on: only the
status of each alert counts, never that of its group, and only an alert that
carries `remediation` and `node` can make a node suspect.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from remediation.names import NODE


class AlertsUndecodable(Exception):
    """The body is not a list of alerts: what was expected and where it failed."""


class Severity(StrEnum):
    """How bad: a warning is elevated risk, a critical alert is high risk."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Remedy(StrEnum):
    """What the author of a rule lets remediation do at most."""

    EXCLUDE = "exclude"
    MIGRATE = "migrate"
    FACILITY = "facility"


class Status(StrEnum):
    """Whether one alert holds."""

    FIRING = "firing"
    RESOLVED = "resolved"


class Ignored(StrEnum):
    """Why an alert cannot make a node suspect."""

    NO_REMEDIATION = "no_remediation"
    UNKNOWN_REMEDIATION = "unknown_remediation"
    OTHER_CLUSTER = "other_cluster"
    NO_CLUSTER = "no_cluster"
    NO_NODE = "no_node"
    UNKNOWN_SEVERITY = "unknown_severity"
    UNKNOWN_STATUS = "unknown_status"
    MALFORMED_LABEL = "malformed_label"
    NOT_IN_POOL = "not_in_pool"


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One alert about one node.  Times are Unix seconds; None means not told.

    `suppressed` is true while a person silences the alert or another inhibits
    it; only the API tells, never a post.
    """

    name: str
    node: str
    severity: Severity
    remedy: Remedy
    status: Status
    cause: str = ""
    horizon: str = ""
    uuid: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    suppressed: bool = False

    @property
    def key(self) -> str:
        """Name the condition: two Prometheus replicas telling of one fault give one key."""
        return "|".join((self.node, self.name, self.severity, self.cause, self.horizon, self.uuid))


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """What one webhook post said; `truncated` alerts were left out by Alertmanager.

    `stray` has some labels of the first alert that asks for remediation and
    cannot be used, as they were sent.
    """

    alerts: tuple[Alert, ...]
    ignored: tuple[Ignored, ...]
    truncated: int
    stray: dict[str, str] = {}

    @property
    def astray(self) -> dict[str, int]:
        """How many alerts that ask for remediation cannot be used, by reason."""
        asking = (why.value for why in self.ignored if why is not Ignored.NO_REMEDIATION)
        return dict(sorted(Counter(asking).items()))

    def keeping(self, alerts: tuple[Alert, ...], why: Ignored) -> Post:
        """Return the post with `alerts` of its own only; the others are ignored, as `why`."""
        if len(alerts) == len(self.alerts):
            return self
        kept = set(alerts)
        left = [alert for alert in self.alerts if alert not in kept]
        stray = {"alertname": left[0].name, "node": left[0].node}
        ignored = (*self.ignored, *(why for _ in left))
        return replace(self, alerts=alerts, ignored=ignored, stray=self.stray or stray)


class _RawAlert(msgspec.Struct):
    labels: dict[str, str]
    status: Any = ""
    startsAt: str = ""  # noqa: N815 - the sender's spelling
    endsAt: str = ""  # noqa: N815


class _RawPost(msgspec.Struct):
    alerts: list[_RawAlert]
    version: Any = None
    truncatedAlerts: int = 0  # noqa: N815


VERSIONS = ("4", "1")
"""The versions of webhook bodies that are understood: Alertmanager's and Grafana's own."""

_TELLING = ("alertname", "cluster", "node", "severity", "remediation")
_MOST_SHOWN = 64
_WORD = re.compile(r"[A-Za-z0-9_.:-]{0,128}\Z")
_POSTS = msgspec.json.Decoder(_RawPost)
_LISTS = msgspec.json.Decoder(list[_RawAlert])


def read_post(body: bytes, *, cluster: str) -> Post:
    """Decode a webhook body; raises `AlertsUndecodable`.

    `cluster` is the configured cluster name; empty accepts alerts of any.
    """
    try:
        raw = _POSTS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AlertsUndecodable(f"not an Alertmanager webhook body: {error}") from error
    if raw.version not in VERSIONS:
        raise AlertsUndecodable(
            "not an Alertmanager webhook body: "
            f"version {_shown(raw.version)}, expected {' or '.join(map(_shown, VERSIONS))}"
        )
    alerts, ignored = _sift(raw.alerts, cluster)
    return Post(
        alerts=alerts,
        ignored=tuple(why for why, _ in ignored),
        truncated=raw.truncatedAlerts,
        stray=next((told for why, told in ignored if why is not Ignored.NO_REMEDIATION), {}),
    )


def read_list(body: bytes, *, cluster: str) -> tuple[Alert, ...]:
    """Decode the answer of `GET /api/v2/alerts`; raises `AlertsUndecodable`."""
    try:
        raw = _LISTS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AlertsUndecodable(f"not an Alertmanager alert list: {error}") from error
    # External labels are added by Prometheus on the way to Alertmanager, so the
    # list is filtered by cluster as posts are.
    return _sift(raw, cluster)[0]


def _shown(version: object) -> str:
    return "none" if version is None else json.dumps(version)[:_MOST_SHOWN]


def _sift(
    raw: list[_RawAlert], cluster: str
) -> tuple[tuple[Alert, ...], list[tuple[Ignored, dict[str, str]]]]:
    read = [(_read(one, cluster), one.labels) for one in raw]
    return (
        tuple(one for one, _ in read if isinstance(one, Alert)),
        [(why, _telling(labels)) for why, labels in read if isinstance(why, Ignored)],
    )


def _telling(labels: dict[str, str]) -> dict[str, str]:
    return {name: labels[name][:_MOST_SHOWN] for name in _TELLING if name in labels}


def _read(raw: _RawAlert, cluster: str) -> Alert | Ignored:
    labels = raw.labels
    why = _unusable(labels, cluster)
    if why is not None:
        return why
    status, suppressed = _status(raw.status)
    if status is None:
        return Ignored.UNKNOWN_STATUS
    return Alert(
        name=labels.get("alertname", ""),
        node=labels["node"],
        severity=Severity(labels["severity"]),
        remedy=Remedy(labels["remediation"]),
        status=status,
        cause=labels.get("cause", ""),
        horizon=labels.get("horizon", ""),
        uuid=labels.get("uuid", ""),
        started_at=_moment(raw.startsAt),
        ended_at=_moment(raw.endsAt),
        suppressed=suppressed,
    )


def _unusable(labels: dict[str, str], cluster: str) -> Ignored | None:
    if not labels.get("remediation"):
        return Ignored.NO_REMEDIATION
    if cluster and labels.get("cluster") != cluster:
        return Ignored.OTHER_CLUSTER if labels.get("cluster") else Ignored.NO_CLUSTER
    if labels["remediation"] not in set(Remedy):
        return Ignored.UNKNOWN_REMEDIATION
    if not labels.get("node"):
        return Ignored.NO_NODE
    if labels.get("severity") not in set(Severity):
        return Ignored.UNKNOWN_SEVERITY
    words = (labels.get(name, "") for name in ("alertname", "cause", "horizon", "uuid"))
    if not NODE.match(labels["node"]) or not all(_WORD.match(word) for word in words):
        return Ignored.MALFORMED_LABEL
    return None


def _status(raw: Any) -> tuple[Status | None, bool]:
    """Read a post's word or the API's object; the API lists only alerts that have not ended."""
    if isinstance(raw, dict):
        state = raw.get("state")
        known = state in {"active", "suppressed", "unprocessed"}
        return (Status.FIRING if known else None), state == "suppressed"
    return (Status(raw) if raw in set(Status) else None), False


def _moment(text: str) -> float | None:
    """Read RFC 3339; year 1 is Alertmanager's "not ended" and arithmetic on it overflows."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.year <= 1:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
