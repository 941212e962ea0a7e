"""Where a benchmark on public data leaves what it found: a file, and sections of a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import argparse


def add_places(parser: argparse.ArgumentParser) -> None:
    """Let a person say where results go."""
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--write", type=Path, help="the page whose section is replaced")


def leave(
    arguments: argparse.Namespace, section: str, results: Any, text: str, verdict: str
) -> None:
    """Print the table and the verdict, and write them where the arguments of `add_places` say."""
    print(f"{text}\n\n{verdict}")
    if arguments.json is not None:
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")
    if arguments.write is not None:
        replace(arguments.write, section, text)
        replace(arguments.write, f"bar-{section}", verdict)


def replace(page: Path, section: str, text: str) -> None:
    """Put `text` between the marks of a section of `page`."""
    begin, end = f"<!-- {section} -->\n", f"<!-- /{section} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")
