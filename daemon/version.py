"""Which Forewarn this is: the same answer from every command."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def version() -> str:
    """Return the installed version, or `unknown` where the package runs from its sources."""
    try:
        return metadata.version("forewarn")
    except metadata.PackageNotFoundError:
        return "unknown"


def add_version(parser: ArgumentParser) -> None:
    """Let a command say its version and leave."""
    parser.add_argument("--version", action="version", version=f"%(prog)s {version()}")
