"""A scrape takes what is known: no read of a source, however long, can hold it up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.app import Exporter
from tests.exporter.app.bench import FakeDcgm, eventually, exporter, get, page
from tests.exporter.redfish.fake_bmc import FakeBmc
from tests.exporter.redfish.small_tree import small_tree

PATIENCE_SECONDS = 20.0
PAGES = 50


class Held:
    """Both sources of a node; each takes a request and answers when `release` is set."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.dcgm = FakeDcgm(self._page)
        self.bmc = FakeBmc(small_tree())
        self.bmc.on_request = self._wait

    def asked(self) -> tuple[int, int]:
        return self.dcgm.requests, len(self.bmc.requests)

    def close(self) -> None:
        self.release.set()
        self.dcgm.close()
        self.bmc.close()

    def _wait(self) -> None:
        self.release.wait(5 * PATIENCE_SECONDS)

    def _page(self) -> tuple[int, str, bytes]:
        self._wait()
        return page(a=40.0)


@pytest.fixture
def held() -> Iterator[Held]:
    both = Held()
    yield both
    both.close()


@pytest.fixture
def app(tmp_path: Path, held: Held) -> Iterator[Exporter]:
    text = (
        "node: n1\n"
        "listen: {host: 127.0.0.1, port: 0}\n"
        f"dcgm: {{url: '{held.dcgm.url}', interval_seconds: 0.05, deadline_seconds: 100}}\n"
        f"bmc: {{url: '{held.bmc.url}', interval_seconds: 0.05, deadline_seconds: 100, "
        "read_timeout_seconds: 100}\n"
    )
    one = exporter(text, tmp_path)
    one.start()
    yield one
    held.release.set()
    one.stop()


def test_pages_come_while_every_source_holds_its_read(app: Exporter, held: Held) -> None:
    eventually(lambda: held.asked() == (1, 1), "both sources are asked")
    answered: list[int] = []

    def scrape() -> None:
        answered.extend(get(app.port, path)[0] for path in ("/metrics", "/", "/healthz") * PAGES)

    scraper = threading.Thread(target=scrape, daemon=True)
    scraper.start()
    scraper.join(PATIENCE_SECONDS)
    # Nothing was let go yet: each of these pages was made while both reads were held, and no page
    # asked a source by itself.
    assert not held.release.is_set()
    assert answered == [200] * 3 * PAGES
    assert held.asked() == (1, 1)
