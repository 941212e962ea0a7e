"""One replica's pages on a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.remediation.replica import Replica

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[Replica]:
    with Replica(tmp_path) as made:
        yield made
