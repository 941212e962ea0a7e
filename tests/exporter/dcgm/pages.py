"""Pages by GPU, and a source that reads them one after another by a clock of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests
import responses

from exporter.dcgm.scrape import DcgmSource

if TYPE_CHECKING:
    from exporter.readings import SourceReadings

URL = "http://dcgm.test:9400/metrics"
INTERVAL_SECONDS = 30.0


class Pages:
    """One dcgm-exporter, read every interval; `now` is monotonic seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.source = DcgmSource(
            URL,
            requests.Session(),
            deadline_seconds=5.0,
            interval_seconds=INTERVAL_SECONDS,
            monotonic=lambda: 0.0,
        )

    def read(
        self, body: str, *, status: int = 200, after: float = INTERVAL_SECONDS
    ) -> SourceReadings:
        self.now += after
        with responses.RequestsMock() as web:
            web.get(URL, body=body.encode(), status=status, content_type="text/plain")
            return self.source.read(self.now)


def line(field: str, value: object, uuid: str = "GPU-a", **labels: str) -> str:
    """Return one sample of one GPU."""
    rest = "".join(f',{name}="{text}"' for name, text in labels.items())
    return f'{field}{{gpu="0",UUID="{uuid}"{rest}}} {value}\n'


def at_work(*uuids: str, millijoules: int, celsius: int = 61) -> str:
    """Return a page of GPUs whose energy counter stands at `millijoules`."""
    return "".join(
        line("DCGM_FI_DEV_GPU_TEMP", celsius, uuid)
        + line("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", millijoules, uuid)
        for uuid in uuids
    )
