"""Flags that say whose past is read, the same for `plan`, `train` and `backtest`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import numbers
from model.history import incidents
from model.history.access import Server
from model.history.plan import grid
from model.history.question import NODE_LABELS, Family, Question
from model.history.refused import Refused
from model.schema import STEP_SECONDS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from model.history.incidents import Incident

DAY = 86_400
NAMES = (
    *("family", "node_label", "node_pattern", "nodes", "match", "days", "until", "incidents"),
    *("token_file", "username_file", "password_file", "ca_file", "tenant"),
)
"""What says how the server of --prometheus is asked; without it nobody reads them."""
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
FRESH_SECONDS = 600
"""The newest minutes are left out: they may not have reached the server's store yet."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose past, of which time (wall-clock seconds, on the grid), and what is known of it.

    `incidents` are the bytes of the site's list and `rows` what it says; without a list both
    are empty.
    """

    server: Server
    question: Question
    start: int
    end: int
    incidents: bytes
    origin: str
    rows: tuple[Incident, ...] = ()


def add(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the flags to `parser`."""
    site = parser.add_argument_group("a site's own history")
    one = site.add_argument
    one(
        "--prometheus",
        metavar="URL",
        required=required,
        help="Prometheus, Thanos, Mimir or "
        "VictoriaMetrics: the address to which /api/v1/query_range is added",
    )
    one(
        "--family",
        choices=list(Family),
        type=Family,
        default=Family.FOREWARN,
        help="whose families hold the past: forewarn-exporter's (default), or dcgm-exporter's own",
    )
    one(
        "--node-label",
        action="append",
        metavar="LABEL",
        help="label that holds a node's name; "
        "repeatable (default: node; for dcgm: Hostname and hostname)",
    )
    one(
        "--node-pattern",
        default="",
        metavar="REGEX",
        help="takes the Kubernetes name of the node "
        "out of that label, by its first group: '(.+):9400' for instance=gpu-a17:9400",
    )
    one("--nodes", default="", metavar="REGEX", help="only nodes whose whole name matches")
    one(
        "--match",
        action="append",
        default=[],
        metavar="LABEL=VALUE",
        help="label that every series must carry, as cluster=example; repeatable",
    )
    one("--days", type=numbers.days, default=30.0, help="how far back (default: 30)")
    one(
        "--until",
        metavar="TIME",
        help="ISO 8601 with an offset or Z, or seconds since 1970 (default: now)",
    )
    one(
        "--incidents",
        type=Path,
        metavar="CSV",
        help="what failed, as the site knows it: columns "
        "node, start, cause, and where known gpu, end, note",
    )
    for name, text in (
        ("token", "bearer token"),
        ("username", "user name, with --password-file"),
        ("password", "password, with --username-file"),
        ("ca", "authority of the server's certificate (default: the system's)"),
    ):
        one(f"--{name}-file", default="", metavar="FILE", help=text)
    one("--tenant", default="", help="tenant of a Mimir, Thanos or Cortex gateway (X-Scope-OrgID)")


def read(arguments: argparse.Namespace, wall: Callable[[], float]) -> Asked:
    """Return what the flags say; raises `Refused` and `OSError`."""
    family = arguments.family
    server = Server(
        url=arguments.prometheus.rstrip("/"),
        token_file=arguments.token_file,
        username_file=arguments.username_file,
        password_file=arguments.password_file,
        ca_file=arguments.ca_file,
        tenant=arguments.tenant,
    )
    question = Question(
        family=family,
        labels=tuple(arguments.node_label or NODE_LABELS[family]),
        pattern=_regex("--node-pattern", arguments.node_pattern),
        match=dict(_pair(text) for text in arguments.match),
        nodes=_regex("--nodes", arguments.nodes),
    )
    end = grid(_moment(arguments.until) if arguments.until else wall() - FRESH_SECONDS)
    start = end - round(arguments.days * DAY) // STEP_SECONDS * STEP_SECONDS
    if start >= end:
        raise Refused(f"--days {arguments.days:g}: expected more than nothing")
    listed = arguments.incidents
    if listed is None:
        return Asked(server, question, start, end, b"", "")
    content = listed.read_bytes()
    rows = tuple(incidents.parse(content, str(listed)))
    return Asked(server, question, start, end, content, str(listed), rows)


def _pair(text: str) -> tuple[str, str]:
    label, equals, value = text.partition("=")
    if not equals or not LABEL.fullmatch(label):
        raise Refused(f"--match {text!r}: expected LABEL=VALUE")
    return label, value


def _regex(flag: str, text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise Refused(f"{flag} {text!r}: not a regular expression: {error}") from error
    return text


def _moment(text: str) -> float:
    try:
        return incidents.moment("--until", text)
    except ValueError as error:
        raise Refused(str(error)) from error
