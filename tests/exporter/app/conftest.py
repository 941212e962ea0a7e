"""A page on loopback and exporters that read it, stopped at the end of each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.exporter.app.bench import FakeDcgm, exporter, page, settings_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from exporter.app import Exporter


@pytest.fixture
def dcgm() -> Iterator[FakeDcgm]:
    fake = FakeDcgm(lambda: page(A=61.0, B=80.0))
    yield fake
    fake.close()


@pytest.fixture
def run(tmp_path: Path, dcgm: FakeDcgm) -> Iterator[Callable[..., Exporter]]:
    started: list[Exporter] = []

    def start(
        more: str = "", *, step_seconds: float = 0.05, listen: str = "", **options
    ) -> Exporter:
        text = settings_text(
            dcgm.url, tmp_path, step_seconds=step_seconds, more=more, listen=listen
        )
        one = exporter(text, tmp_path, **options)
        one.start()
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()
