"""`forewarn-model`: make, judge and inspect artefacts."""

from __future__ import annotations

import sys

from daemon import command


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""

    def enter() -> int:
        from model import cli

        return cli.main(arguments)

    return command.run("forewarn-model", enter)


if __name__ == "__main__":
    sys.exit(main())
