"""`forewarn-simulator`: a GPU cluster that can break."""

from __future__ import annotations

import sys

from daemon import command


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""

    def enter() -> int:
        from simulator import cli

        return cli.run(sys.argv[1:] if arguments is None else arguments)

    return command.run("forewarn-simulator", enter)


if __name__ == "__main__":
    sys.exit(main())
