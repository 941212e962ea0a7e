"""The `forewarn-simulator` command."""

from __future__ import annotations

import sys

from simulator.cli import run


def main() -> int:
    """Run the command line; returns the exit status."""
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
