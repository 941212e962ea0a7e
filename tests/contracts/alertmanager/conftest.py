"""A real Alertmanager, the oldest and the newest, that posts each alert where its label says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import requests
import yaml

from simulator.processes import Processes, free_port
from tests.contracts.alertmanager.receiver import Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.monitoring.fixtures import Programs

ROUTES = (
    "/ok/200",
    "/ok/204",
    "/no/400",
    "/no/401",
    "/no/429",
    "/broken/500",
    "/broken/503",
    "/moved/302",
    "/moved/307",
    "/slow/200",
    "/few/200",
)
NOBODY = "/nobody/200"
GROUP_SECONDS = 2


@dataclass(frozen=True)
class Posting:
    """An Alertmanager and who receives its posts."""

    url: str
    receiver: Receiver

    def fire(self, path: str, *nodes: str, ends: timedelta | None = None) -> None:
        """Let an alert of each of `nodes` fire for one path; without `ends`, until resolved."""
        now = datetime.now(UTC)  # noqa: TID251 - the program's own clock is real
        until = {"endsAt": (now + ends).isoformat()} if ends is not None else {}
        body = [{"labels": {"path": path, "node": node}, **until} for node in nodes or ("n1",)]
        requests.post(f"{self.url}/api/v2/alerts", json=body, timeout=5).raise_for_status()

    def silence(self, path: str) -> None:
        """Silence what fires for one path."""
        body = {
            "matchers": [{"name": "path", "value": path, "isRegex": False, "isEqual": True}],
            "startsAt": "2020-01-01T00:00:00Z",
            "endsAt": "2099-01-01T00:00:00Z",
            "createdBy": "ana",
            "comment": "hands off",
        }
        requests.post(f"{self.url}/api/v2/silences", json=body, timeout=5).raise_for_status()


@pytest.fixture(scope="session")
def posting(
    monitoring_programs: Programs, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Posting]:
    folder = tmp_path_factory.mktemp("alertmanager")
    program = monitoring_programs.find("alertmanager")
    with Receiver() as receiver, Processes(folder / "logs") as processes:
        url = f"http://127.0.0.1:{free_port()}"
        config = folder / "alertmanager.yml"
        config.write_text(yaml.safe_dump(_document(receiver.url)), "utf-8")
        arguments = [
            f"--config.file={config}",
            f"--storage.path={folder / 'data'}",
            f"--web.listen-address={url.removeprefix('http://')}",
            "--cluster.listen-address=",
        ]
        processes.start("alertmanager", [program, *arguments])
        processes.wait_until_answers("alertmanager", f"{url}/-/ready")
        yield Posting(url, receiver)


def _document(base: str) -> dict[str, Any]:
    urls = {path: base + path for path in ROUTES} | {NOBODY: f"http://127.0.0.1:9{NOBODY}"}
    return {
        "route": {
            "receiver": "nowhere",
            "group_by": ["path"],
            "group_wait": "0s",
            "group_interval": f"{GROUP_SECONDS}s",
            "repeat_interval": "1h",
            "routes": [{"receiver": path, "matchers": [f'path="{path}"']} for path in urls],
        },
        "receivers": [{"name": "nowhere"}, *(_receiver(path, url) for path, url in urls.items())],
    }


def _receiver(path: str, url: str) -> dict[str, Any]:
    most = 2 if path.startswith("/few") else 0
    return {"name": path, "webhook_configs": [{"url": url, "max_alerts": most}]}
