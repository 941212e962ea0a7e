"""`forewarn-remediation`: hear alerts, keep the cluster calm; or carry one order to it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path

from daemon import named_files
from daemon.clocks import system_clock
from daemon.command import WRONG_SETTINGS
from daemon.lifecycle import Lifecycle
from daemon.logs import logger
from daemon.settings import SettingsError, load
from daemon.tls import TlsUnusable
from daemon.version import add_version
from remediation import cli
from remediation.app import App
from remediation.ports import CallFailed
from remediation.settings import Settings

_ABOUT = """\
Hears Alertmanager, and moves work off nodes that will fail, slowly enough that
the cure never becomes the outage.  Without a change of the settings it only
observes: it says what it would do, and does nothing.

Example, against the cluster of your kubeconfig, observing:

  forewarn-remediation --config remediation.yml --check-config --no-files
  forewarn-remediation --config remediation.yml

Settings that cannot be used end it with exit status 78, a cluster or port that
cannot be had with 69.

Then open http://localhost:9479/ for what it sees, and point an Alertmanager
webhook at http://<host>:9478/api/v1/alerts with a bearer token.

The commands below talk to one that runs, each has its own --help:

  forewarn-remediation status
  forewarn-remediation explain gpu-017
  forewarn-remediation pause --reason "storage maintenance"
"""

# sysexits: a service that cannot be had, and "try again".
_EX_UNAVAILABLE = 69
_EX_TEMPFAIL = 75


def main() -> int | None:
    """Run until SIGTERM or SIGINT, or do one command; a bad settings file is exit status 78."""
    arguments = _arguments()
    if arguments.command is not None:
        return cli.run(arguments)
    try:
        settings = load(arguments.config, Settings)
    except SettingsError as error:
        print(f"forewarn-remediation: {error}", file=sys.stderr)
        return WRONG_SETTINGS
    if arguments.check_config:
        return _check(settings, arguments)
    return _run(settings, arguments.config)


def _check(settings: Settings, arguments: argparse.Namespace) -> int:
    """Look at the files that good settings name, where they can be there."""
    found = [] if arguments.no_files else named_files.troubles(settings)
    for line in found:
        print(f"forewarn-remediation: {arguments.config}: {line}", file=sys.stderr)
    if not found:
        print(f"{arguments.config}: ok, mode {settings.policy.mode}")
    return WRONG_SETTINGS if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="forewarn-remediation",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config",
        type=Path,
        default=Path("/etc/forewarn/remediation.yml"),
        help="settings file (default: %(default)s)",
    )
    parser.add_argument(
        "--check-config",
        action="store_true",
        help="read the settings, look at the files that they name, say what is wrong, and end",
    )
    parser.add_argument(
        "--no-files",
        action="store_true",
        help="with --check-config: the files that are named lie on another machine",
    )
    add_version(parser)
    cli.add_commands(parser)
    return parser.parse_args()


def _run(settings: Settings, path: Path) -> int | None:
    log = logger("remediation", level=settings.log.level, style=settings.log.style)
    lifecycle = Lifecycle()
    lifecycle.install_signals()
    # What was imported stays for good: looking through it for garbage, again and again, holds up
    # every thread for as long as several cordons take.
    gc.freeze()
    try:
        app = App(settings, path=path, clock=system_clock(), log=log, die=_die)
        app.start()
    except TlsUnusable as error:
        print(f"forewarn-remediation: {path}: tls: {error}", file=sys.stderr)
        return WRONG_SETTINGS
    except (CallFailed, OSError) as error:
        log.error("remediation cannot start", error=str(error))  # noqa: TRY400 - one line
        return _EX_UNAVAILABLE
    try:
        app.watch(lifecycle.stop, lifecycle.reload)
    finally:
        app.close()
    return None


def _die() -> None:
    # A write may still be on its way while another replica starts to lead: only
    # the end of this process, without any clean-up that could take time, stops it.
    os._exit(_EX_TEMPFAIL)
