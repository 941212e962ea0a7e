"""How long a page takes while a BMC misbehaves, kind by kind, beside a BMC that is well.

Each kind has an exporter of its own, in this process, whose BMC is read seven
times a second and fails as named; the page is fetched over loopback meanwhile.
Prints pages, median, 99th percentile and longest, in milliseconds; ends with 1
when a 99th percentile is over 100 ms.

    python -m benchmarks.awkward_bmc --pages 300
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.processes import load
from daemon import numbers
from tests.exporter.app.stage import MISBEHAVIOURS, Stage

PROMISE_SECONDS = 0.1
WELL = "none: the BMC is well"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pages", type=numbers.whole(1), default=300, help="pages for each kind (300)"
    )
    pages = parser.parse_args().pages
    print(f"{pages} pages each; {load()}")
    print("| misbehaviour | median ms | 99 % ms | longest ms |")
    print("| --- | --- | --- | --- |")
    worst = 0.0
    for name in (WELL, *MISBEHAVIOURS):
        took = sorted(_measure(name, pages))
        high = took[int(0.99 * len(took))]
        worst = max(worst, high)
        cells = (f"{1000 * value:.1f}" for value in (took[len(took) // 2], high, took[-1]))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"{'holds' if worst <= PROMISE_SECONDS else 'BROKEN'}: 99 % of pages within 100 ms")
    return 0 if worst <= PROMISE_SECONDS else 1


def _measure(name: str, pages: int) -> list[float]:
    """Return how long each page took, in seconds, once the misbehaviour has shown."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        try:
            stage.wait(stage.well, "the BMC is read")
            faults, reason = MISBEHAVIOURS.get(name, ({}, ""))
            stage.bmc.faults.update(faults)
            if reason:
                stage.wait(
                    lambda: stage.reason(reason) or stage.reason("bad_content"), f"{name}: {reason}"
                )
            stage.pages.clear()
            stage.scrape(pages)
            return stage.pages
        finally:
            stage.close()


if __name__ == "__main__":
    raise SystemExit(main())
