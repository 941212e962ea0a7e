"""The command `forewarn-exporter`: arguments and signals, nothing else."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import named_files
from daemon import settings as files
from daemon.clocks import system_clock
from daemon.command import WRONG_SETTINGS
from daemon.lifecycle import Lifecycle
from daemon.logs import logger
from daemon.tls import TlsUnusable
from daemon.version import add_version, version
from exporter import probe
from exporter.app import Exporter
from exporter.facility import probe as facility_probe
from exporter.facility.app import FacilityExporter
from exporter.facility.settings import FacilitySettings
from exporter.forecast import shelf, trial
from exporter.page import reference
from exporter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

DEFAULTS = "defaults"
EXAMPLE = """\
example:
  NODE_NAME=gpu-017 forewarn-exporter --config exporter.yml
  NODE_NAME=gpu-017 forewarn-exporter --config exporter.yml --probe
  curl localhost:9477/metrics | grep failure_probability
  forewarn-exporter --facility --config facility.yml --probe
  forewarn-exporter --facility --config facility.yml

Settings that cannot be used end it with exit status 78, a port that cannot be
had or a probe in vain with 1.

Without --config every default holds: dcgm-exporter on 127.0.0.1:9400, no BMC,
the bundled model.  SIGHUP reads settings and models again, SIGTERM saves the
window and stops.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run until told to stop; 78 for unusable settings, 1 for a taken port or a probe in vain."""
    options = _parser().parse_args(arguments)
    if options.list_metrics:
        print(reference.markdown(), end="")
        return 0
    if options.facility:
        return _facility(options)
    try:
        settings = files.load(options.config, Settings) if options.config else Settings()
    except files.SettingsError as error:
        return _refuse(str(error))
    # Settings that are checked away from their nodes need not say which node it is.
    anywhere = options.check_config and options.no_files and not settings.node
    try:
        node = "" if anywhere else settings.node_name()
    except ValueError as error:
        return _refuse(f"{options.config or DEFAULTS}: {error}")
    if options.check_config:
        return _check(settings, options, partial(_models, settings, node))
    if options.probe:
        return _say(*probe.run(settings, system_clock()))
    return _serve(settings, options.config)


def _say(report: str, good: bool) -> int:
    print(report, end="")
    return 0 if good else 1


def _refuse(line: str) -> int:
    print(f"forewarn-exporter: {line}", file=sys.stderr)
    return WRONG_SETTINGS


def _models(settings: Settings, node: str) -> list[str]:
    named = settings.model.directory
    directory = Path(named) if named else None
    return [f"model.directory: {line}" for line in shelf.troubles(directory, node, trial.died)]


def _check(
    settings: Settings | FacilitySettings,
    options: argparse.Namespace,
    more: Callable[[], list[str]] = list,
) -> int:
    """Look at the files that good settings name, and at `more`, where they can be there."""
    path = options.config or DEFAULTS
    found = [] if options.no_files else named_files.troubles(settings) + more()
    for line in found:
        print(f"forewarn-exporter: {path}: {line}", file=sys.stderr)
    if not found:
        print(f"{path}: ok")
    return WRONG_SETTINGS if found else 0


def _facility(options: argparse.Namespace) -> int:
    """Be the facility's exporter; without settings there is nothing that it could read."""
    path = options.config
    try:
        settings = files.load(path, FacilitySettings) if path else FacilitySettings()
    except files.SettingsError as error:
        return _refuse(str(error))
    if not settings.targets:
        return _refuse(f"{path or DEFAULTS}: targets: expected at least one, nothing is read")
    if options.check_config:
        return _check(settings, options)
    if options.probe:
        return _say(*facility_probe.run(settings, system_clock()))
    lifecycle = Lifecycle()

    def build(log: FilteringBoundLogger) -> FacilityExporter:
        return FacilityExporter(
            settings, log=log, version=version(), path=path, reload=lifecycle.reload
        )

    return _run(settings, lifecycle, build)


def _serve(settings: Settings, path: Path | None) -> int:
    lifecycle = Lifecycle()

    def build(log: FilteringBoundLogger) -> Exporter:
        return Exporter(settings, log=log, path=path, reload=lifecycle.reload, trial=trial.died)

    return _run(settings, lifecycle, build)


def _run(
    settings: Settings | FacilitySettings,
    lifecycle: Lifecycle,
    build: Callable[[FilteringBoundLogger], Exporter | FacilityExporter],
) -> int:
    log = logger("exporter", level=settings.log.level, style=settings.log.format)
    lifecycle.install_signals()
    try:
        exporter = build(log)
    except TlsUnusable as error:
        return _refuse(f"listen.tls: {error}")
    try:
        exporter.start()
    except OSError as error:
        place = f"{settings.listen.host}:{settings.listen.port}"
        # The library gives its own sentence, with the system's at the end of it.
        why = str(error).rpartition("] ")[2].rstrip("()")
        print(f"forewarn-exporter: listen: {place} cannot be had: {why}", file=sys.stderr)
        return 1
    lifecycle.stop.wait()
    exporter.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="forewarn-exporter",
        description="Publish what is known of this node's hardware and how soon it may fail.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings (YAML)")
    parser.add_argument(
        "--facility",
        action="store_true",
        help="read CDUs, heat exchangers, PDUs and power shelves in place of a node",
    )
    parser.add_argument(
        "--check-config",
        action="store_true",
        help="check the settings and the files that they name, and leave",
    )
    parser.add_argument(
        "--no-files",
        action="store_true",
        help="with --check-config: the files that are named lie on another machine",
    )
    parser.add_argument(
        "--probe",
        action="store_true",
        help="read each source once, say what was found, what is blind and what to do, and leave",
    )
    parser.add_argument(
        "--list-metrics", action="store_true", help="print every metric with its meaning and leave"
    )
    add_version(parser)
    return parser
