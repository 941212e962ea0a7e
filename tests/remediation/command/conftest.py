"""The pages of one replica on a real socket, for the commands to talk to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from daemon.serving import Server
from tests.remediation.pages.test_pages import Face

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Replica:
    """A `Face` that listens."""

    def __init__(self, folder: Path) -> None:
        self.face = Face(folder)
        self.token_file = folder / "token"
        self.server = Server(self.face.pages, host="127.0.0.1", port=0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[Replica]:
    made = Replica(tmp_path)
    made.server.start()
    yield made
    made.server.close()
