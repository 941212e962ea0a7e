"""A dcgm-exporter on loopback whose page a test may change, and an exporter that reads it."""

from __future__ import annotations

import io
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from daemon.logs import logger
from daemon.settings import parse
from exporter.app import Exporter
from exporter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Answer = tuple[int, str, bytes]
PATIENCE_SECONDS = 20.0


def page(**celsius: float) -> Answer:
    """Return a page with the temperature of some GPUs, by UUID."""
    lines = [
        f'DCGM_FI_DEV_GPU_TEMP{{gpu="{index}",UUID="{uuid}",pod="train-{index}"}} {value}\n'
        for index, (uuid, value) in enumerate(celsius.items())
    ]
    return 200, "text/plain; charset=utf-8", "".join(lines).encode()


class FakeDcgm:
    """Answers every request with `answer()`, said to be of `promised` bytes; counts them."""

    def __init__(self, answer: Callable[[], Answer], promised: int | None = None) -> None:
        self.answer = answer
        self.requests = 0
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake.requests += 1
                status, kind, body = fake.answer()
                self.send_response(status)
                if kind:
                    self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(promised or len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def settings_text(
    url: str, folder: Path, *, step_seconds: float = 0.05, more: str = "", listen: str = ""
) -> str:
    """Return YAML for a trial in compressed time."""
    return (
        "node: n1\n"
        f"listen: {{host: 127.0.0.1, port: 0{', ' if listen else ''}{listen}}}\n"
        f"dcgm: {{url: '{url}', interval_seconds: {step_seconds}, deadline_seconds: 2}}\n"
        f"window: {{step_seconds: {step_seconds}, directory: '{folder}'}}\n"
        f"model: {{directory: '{folder}', check_interval_seconds: 0.05}}\n"
        f"{more}"
    )


def exporter(text: str, folder: Path, log: io.StringIO | None = None, **options: Any) -> Exporter:
    """Return an exporter that is not started yet, without the bundled model."""
    return Exporter(
        parse(text, Settings, origin="test"),
        log=logger("test", stream=log if log is not None else io.StringIO(), style="json"),
        bundled=folder / "none.onnx",
        **options,
    )


def get(port: int, path: str = "/metrics", timeout_seconds: float = 2.0) -> tuple[int, str]:
    try:
        url = f"http://127.0.0.1:{port}{path}"
        with urllib.request.urlopen(url, timeout=timeout_seconds) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def series(port: int) -> dict[str, float]:
    _, text = get(port)
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {key: float(value) for key, _, value in (line.rpartition(" ") for line in lines)}


PROBABILITY = 'forewarn_node_failure_probability{horizon="72h",node="n1"}'


def state(port: int) -> str:
    known = series(port)
    (holds,) = (k for k, v in known.items() if k.startswith("forewarn_prediction_state") and v)
    return holds.partition('state="')[2].partition('"')[0]


def eventually(holds: Callable[[], Any], what: str, seconds: float = PATIENCE_SECONDS) -> Any:
    """Wait until `holds` returns something true, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        outcome = holds()
        if outcome:
            return outcome
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")
