"""A Prometheus on loopback that answers range queries from a table, or as awkwardly as told."""

from __future__ import annotations

import json
import math
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Told = tuple[int, dict[str, str], bytes]
Labels = Mapping[str, str]


@dataclass
class Asked:
    query: str
    start: float
    end: float
    step: float
    authorization: str = ""

    @property
    def points(self) -> int:
        return round((self.end - self.start) / self.step) + 1


@dataclass
class FakePrometheus:
    """`series` are labels and a function from wall-clock seconds to a value, None for none.

    `answer` may return what is said in place of data for a question, None for the data.
    """

    series: list[tuple[Labels, Callable[[float], float | None]]] = field(default_factory=list)
    answer: Callable[[Asked], Told | None] = lambda _: None
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(urllib.parse.parse_qsl(body))
                numbers = [float(form[name]) for name in ("start", "end", "step")]
                asked = Asked(form["query"], *numbers, self.headers.get("Authorization", ""))
                fake.asked.append(asked)
                status, headers, said = fake.answer(asked) or fake._data(asked)
                # A client that gave up has closed its end.
                with suppress(ConnectionError):
                    self._say(status, headers, said)

            def _say(self, status: int, headers: dict[str, str], said: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _data(self, asked: Asked) -> Told:
        walls = [asked.start + n * asked.step for n in range(asked.points)]
        result = []
        for labels, value_at in self.series:
            pairs = [(wall, value_at(wall)) for wall in walls]
            values = [[wall, _text(value)] for wall, value in pairs if value is not None]
            if values:
                result.append({"metric": dict(labels), "values": values})
        document = {"status": "success", "data": {"resultType": "matrix", "result": result}}
        return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()


def _text(value: float) -> str:
    return "NaN" if math.isnan(value) else repr(value)


def gpu(metric: str, uuid: str, index: str = "0") -> dict[str, str]:
    return {"__name__": metric, "gpu": index, "uuid": uuid}
