"""The pages of one replica on a real socket, for commands and browsers to talk to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from daemon.serving import Server
from tests.remediation.front.pages.test_pages import Face

if TYPE_CHECKING:
    from pathlib import Path


class Replica:
    """A `Face` that listens, as a context."""

    def __init__(self, folder: Path) -> None:
        self.face = Face(folder)
        self.token_file = folder / "token"
        self._server = Server(self.face.pages, host="127.0.0.1", port=0)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"
