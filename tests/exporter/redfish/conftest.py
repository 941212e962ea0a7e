"""A fake BMC, a reader of it, and a clock that only moves when told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from daemon.clocks import Clock
from exporter.readings import Place, SourceReadings
from exporter.redfish.reader import RedfishSource
from exporter.redfish.settings import BmcSettings
from tests.exporter.redfish.fake_bmc import PASSWORD, USER, FakeBmc


class Hands:
    """The hands of a clock, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Bench:
    """One BMC, one reader, one clock."""

    def __init__(self, bmc: FakeBmc, hands: Hands, settings: BmcSettings) -> None:
        self.bmc = bmc
        self.hands = hands
        clock = Clock(wall=hands, monotonic=hands)
        self.source = RedfishSource(settings, clock=clock, random=Random(1))

    def read(self) -> SourceReadings:
        self.hands.advance(60)
        return self.source.read(self.hands.now)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def secrets(tmp_path: Path) -> tuple[Path, Path]:
    user, password = tmp_path / "username", tmp_path / "password"
    user.write_text(USER + "\n", encoding="utf-8")
    password.write_text(PASSWORD + "\n", encoding="utf-8")
    return user, password


@pytest.fixture
def bench(hands: Hands, secrets: tuple[Path, Path]) -> Iterator[Callable[..., Bench]]:
    """Build benches from documents; with `auth` the BMC wants the log-in that the secrets hold."""
    made: list[Bench] = []

    def build(
        documents: dict[str, Any],
        *,
        auth: bool = False,
        expand: str = "honest",
        certificate: tuple[Path, Path] | None = None,
        **settings: Any,
    ) -> Bench:
        bmc = FakeBmc(documents, auth=auth, expand=expand, certificate=certificate)
        if auth:
            settings |= {"username_file": str(secrets[0]), "password_file": str(secrets[1])}
        made.append(Bench(bmc, hands, BmcSettings(url=bmc.url, **settings)))
        return made[-1]

    yield build
    for one in made:
        one.source.close()
        one.bmc.close()


def values(readings: SourceReadings) -> dict[str, float]:
    return {place.channel: value for place, value in readings.values.items()}


def missing(readings: SourceReadings, channel: str) -> str:
    return str(readings.missing[Place(channel)])
