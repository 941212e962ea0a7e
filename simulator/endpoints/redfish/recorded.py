"""A recorded Redfish tree as a service: folders of `index.json`, as DMTF publishes its mock-ups."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ROOT = "/redfish/v1"
JSON = "application/json"


class RecordedTree:
    """A WSGI application that answers GET without a log-in, always the same.

    A folder that is no recorded tree raises `ValueError`.  A document that is no
    JSON is left out, as it stands broken in some of those that vendors publish.
    """

    def __init__(self, folder: Path) -> None:
        self.left_out: list[Path] = []
        self._bodies: dict[str, bytes] = {}
        for path in sorted(folder.rglob("index.json")):
            body = path.read_bytes()
            try:
                json.loads(body)
            except ValueError:
                self.left_out.append(path)
                continue
            self._bodies["/" + path.parent.relative_to(folder).as_posix()] = body
        if ROOT not in self._bodies:
            raise ValueError(f"--tree {folder}: expected a folder with redfish/v1/index.json in it")

    def __len__(self) -> int:
        return len(self._bodies)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        body = self._bodies.get(environ["PATH_INFO"].rstrip("/"))
        status = HTTPStatus.OK if body is not None else HTTPStatus.NOT_FOUND
        if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            status, body = HTTPStatus.METHOD_NOT_ALLOWED, None
        headers = [("Content-Type", JSON), ("Content-Length", str(len(body or b"{}")))]
        start_response(f"{status.value} {status.phrase}", headers)
        return [body or b"{}"]
