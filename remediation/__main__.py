"""`forewarn-remediation`: the way in."""

from __future__ import annotations

import sys

from daemon import command


def main() -> int:
    """Run the command line; returns the exit status."""

    def enter() -> int | None:
        from remediation import program

        return program.main()

    return command.run("forewarn-remediation", enter)


if __name__ == "__main__":
    sys.exit(main())
