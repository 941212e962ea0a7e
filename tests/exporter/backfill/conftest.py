from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.factories.prometheus import FakePrometheus


@pytest.fixture
def server() -> Iterator[FakePrometheus]:
    fake = FakePrometheus()
    yield fake
    fake.close()
