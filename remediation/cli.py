"""The commands for people: what is going on, why, and orders to stop or go on.

They talk over HTTP to a remediation that runs, and know nothing of its inside.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from daemon.reach import plainly
from daemon.secrets import SecretFile, SecretUnreadable
from remediation.names import EXPECTED, NODE

_TIMEOUT_SECONDS = 10.0
_URL = "http://localhost:9479"
_TOKEN_FILE = "/etc/forewarn/operator/token"  # noqa: S105 - a path

# sysexits: wrong usage, no such node, a service that cannot be had, and no permission.
_EX_USAGE, _EX_NOHOST, _EX_UNAVAILABLE, _EX_NOPERM = 64, 68, 69, 77

_STATUSES = {400: _EX_USAGE, 401: _EX_NOPERM, 404: _EX_NOHOST}
"""The exit status of what is answered with an HTTP status."""

_REACH = """\
Where remediation is: --url, else FOREWARN_REMEDIATION_URL, else http://localhost:9479.
In a cluster: kubectl -n forewarn port-forward deploy/forewarn-remediation 9479
"""
_ORDERING = """\
Orders need the operator's token: --token-file, else FOREWARN_TOKEN_FILE, else
/etc/forewarn/operator/token.  Name and reason are shown to everybody and logged.
"""
_UNKNOWN = "A name that the pool does not have is refused, unless --anyway says it is right.\n"
_COMMANDS: dict[str, tuple[str, str]] = {
    "status": (
        "what is in flight, what waits and why, and the budget",
        "Example:\n\n  forewarn-remediation status\n",
    ),
    "explain": (
        "one node's story: alerts, state, which guard refuses, and what ends the wait",
        "Example:\n\n  forewarn-remediation explain gpu-017\n",
    ),
    "pause": (
        "stop all new harm; nodes still come back",
        "Nothing that was begun is undone.  Example:\n\n"
        '  forewarn-remediation pause --reason "storage maintenance until 18:00"\n',
    ),
    "resume": (
        "end the pause, and arm the breaker again",
        "Look first why it was paused or why the breaker opened: `status` tells.  Example:\n\n"
        '  forewarn-remediation resume --reason "maintenance is over"\n',
    ),
    "hold": (
        "leave one node alone, neither out nor back, until somebody releases it",
        "Also: kubectl annotate node gpu-017 forewarn.dev/hold=mine.  Example:\n\n"
        '  forewarn-remediation hold gpu-017 --reason "I am replacing its riser"\n',
    ),
    "release": (
        "end a hold, and give one node back now: no soak, no probation",
        "A cordon that is not ours stays.  Also: kubectl annotate node gpu-017\n"
        "forewarn.dev/release=repaired.  Example:\n\n"
        '  forewarn-remediation release gpu-017 --reason "repaired and tested"\n',
    ),
}
_OF_A_NODE = frozenset({"explain", "hold", "release"})
_ORDERS = frozenset({"pause", "resume", "hold", "release"})


_NOT_AN_ADDRESS = (
    requests.exceptions.MissingSchema,
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidURL,
)


class _Unanswered(Exception):
    """No useful answer: what to say, and the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands to the parser of the program."""
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (what, example) in _COMMANDS.items():
        order = name in _ORDERS
        command = commands.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog="\n".join(_epilog(name, example)),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in _OF_A_NODE:
            command.add_argument("node", metavar="NODE", help="the node's name in Kubernetes")
        if order:
            _add_order(command, of_a_node=name in _OF_A_NODE)
        else:
            command.add_argument("--json", action="store_true", help="print the answer as JSON")
        command.add_argument(
            "--url", default=os.environ.get("FOREWARN_REMEDIATION_URL", _URL), help="where it is"
        )


def _epilog(name: str, example: str) -> list[str]:
    parts = [example, _REACH]
    if name in _ORDERS:
        parts.append(_ORDERING)
    if name in _ORDERS & _OF_A_NODE:
        parts.append(_UNKNOWN)
    return parts


def _add_order(command: argparse.ArgumentParser, *, of_a_node: bool) -> None:
    if of_a_node:
        command.add_argument(
            "--anyway", action="store_true", help="the pool need not have the node: it joins later"
        )
    command.add_argument("--reason", required=True, help="why, for everybody to read")
    command.add_argument("--author", default=None, help="who asks (default: your user name)")
    command.add_argument(
        "--token-file",
        type=Path,
        default=Path(os.environ.get("FOREWARN_TOKEN_FILE", _TOKEN_FILE)),
        help="the operator's token",
    )


def run(arguments: argparse.Namespace) -> int:
    """Do one command; return the exit status."""
    try:
        if arguments.command in _OF_A_NODE and not NODE.match(arguments.node):
            raise _Unanswered(f"{arguments.node!r}: {EXPECTED}", _EX_USAGE)
        if arguments.command in _ORDERS:
            return _order(arguments)
        return _look(arguments)
    except _Unanswered as error:
        print(f"forewarn-remediation: {error}", file=sys.stderr)
        return error.status


def _look(arguments: argparse.Namespace) -> int:
    status = arguments.command == "status"
    path = "status" if status else f"episodes/{quote(arguments.node, safe='')}"
    found = _ask("GET", f"{arguments.url}/api/v1/{path}")
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(_status(found) if status else _story(found)))
    known = status or found["in_pool"] or found["finding"] or found["hold"]
    return 0 if known else _EX_NOHOST


def _order(arguments: argparse.Namespace) -> int:
    of_a_node = arguments.command in _OF_A_NODE
    path = arguments.command
    if of_a_node:
        path = f"episodes/{quote(arguments.node, safe='')}/{path}"
    try:
        token = SecretFile(arguments.token_file).read()
    except SecretUnreadable as error:
        raise _Unanswered(f"{error}; name the token's file with --token-file", _EX_NOPERM) from None
    order: dict[str, Any] = {"author": arguments.author or _user(), "reason": arguments.reason}
    if of_a_node and arguments.anyway:
        order["anyway"] = True
    done = _ask("POST", f"{arguments.url}/api/v1/{path}", token=token, order=order)
    print(f"{arguments.node if of_a_node else 'remediation'}: {done['outcome']}{_doubt(done)}")
    return 0


def _doubt(done: dict[str, Any]) -> str:
    """Say what an order about a node may have missed."""
    if done.get("in_pool", True):
        return ""
    unseen = done["in_pool"] is None
    return "; " + (
        "the pool cannot be seen now, so check the name" if unseen else "the pool has no such node"
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # In a container whose user has a number and no name.
        message = "your user has no name here; say who you are with --author"
        raise _Unanswered(message, _EX_USAGE) from None


def _ask(
    method: str, url: str, *, token: str | None = None, order: dict[str, Any] | None = None
) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    try:
        answer = requests.request(
            method,
            url,
            json=order,
            headers=headers,
            timeout=_TIMEOUT_SECONDS,
            allow_redirects=False,
        )
        found = answer.json()
    except requests.JSONDecodeError:
        message = f"{url}: not an answer of remediation, is this its status port?"
        raise _Unanswered(message, _EX_UNAVAILABLE) from None
    except requests.RequestException as error:
        message = f"{url}: {_why(error)}; say where with --url"
        raise _Unanswered(message, _EX_UNAVAILABLE) from None
    if answer.status_code == 200:
        return found
    why = found.get("error", answer.status_code) if isinstance(found, dict) else found
    message = f"not done: {why}"
    if answer.status_code == 404 and order is not None:
        message += "; if the name is right all the same: --anyway"
    raise _Unanswered(message, _STATUSES.get(answer.status_code, _EX_UNAVAILABLE))


def _why(error: requests.RequestException) -> str:
    if isinstance(error, _NOT_AN_ADDRESS):
        return "not an address, expected http://HOST:PORT"
    if isinstance(error, requests.Timeout):
        return f"no answer within {_TIMEOUT_SECONDS:g} s"
    return f"cannot be reached: {plainly(error)}"


def _status(found: dict[str, Any]) -> list[str]:
    lines = [f"mode {found['mode']}: {found['sentence']}"]
    lines.append("this replica leads" if found["leads"] else f"leader: {found['holder'] or 'none'}")
    if found["pause"]:
        lines.append(f"PAUSED by {found['pause']['author']}: {found['pause']['reason']}")
    if found["breaker"] and found["breaker"].get("tripped_at") is not None:
        lines.append(f"BREAKER OPEN: {found['breaker']['reason']}")
    if found["episodes"]:
        width = max(len(one["node"]) for one in found["episodes"])
        lines += ["", "episodes:"]
        lines += [
            f"  {one['node']:<{width}}  {one['state']:<12}  {one['sentence']}"
            for one in found["episodes"]
        ]
    if found["scopes"]:
        lines += ["", f"budget:{'used':>15} allowed"]
        lines += [
            f"  {scope:<14}{use['used']:>6g} {use['allowed']:>7g}"
            for scope, use in found["scopes"].items()
        ]
    return lines


def _story(found: dict[str, Any]) -> list[str]:
    finding = found["finding"]
    if finding is None:
        where = "is well as far as known" if found["in_pool"] else "is not in the pool"
        meant = f"; {' or '.join(found['near'])} may be meant" if found.get("near") else ""
        return [f"{found['node']} {where}: no alert, no mark, no hold{meant}"]
    lines = [f"{found['node']}: {finding['state']}", f"  {finding['sentence']}"]
    if finding["refusal"]:
        lines.append(f"  {finding['refusal']['reason']}. {found['advice']}")
    for suspect in found["suspects"]:
        what = f"{suspect.get('cause') or 'any cause'} within {suspect.get('horizon') or '?'}"
        lines.append(f"  alert: {suspect['alert']} {suspect['severity']}, {what}")
    if found["mark"]:
        lines.append(f"  mark: {found['mark']['state']}, {found['mark']['reason']}")
        if found["mark"].get("gpu"):
            lines.append(f"  only its GPU {found['mark']['gpu']['uuid']}, the rest is in service")
        if found["mark"].get("handed"):
            handed = found["mark"]["handed"]
            where = "/".join(part for part in (handed["namespace"], handed["name"]) if part)
            lines.append(f"  handed over: {handed['kind']} {where}")
    if found["hold"]:
        lines.append(f"  hold: {found['hold']['reason']}")
    if found["unschedulable"]:
        lines.append(f"  cordoned, last by {found['cordoned_by'] or 'somebody'}")
    lines += [f"  {told['ago']}: {told['sentence']}" for told in found["decisions"]]
    return lines
