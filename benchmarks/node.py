"""One node as an exporter finds it: eight GPUs, the whole counter list, a BMC of real size."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon.serving import Server
from exporter.forecast.shelf import BUNDLED
from model import schema
from simulator.endpoints import dcgm
from simulator.endpoints.redfish.bmc import Bmc, Credentials
from simulator.fleet import Fleet, lay_out
from simulator.physics.workload import Workload
from tests.exporter.redfish.fake_bmc import FakeBmc, recorded
from tests.factories import artefact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[1]
COUNTERS = ROOT / "deploy" / "config" / "dcgm-counters-hopper.csv"
CORE_TEMPERATURE = re.compile(r"^DCGM_FI_DEV_GPU_TEMP(\{.*\}) ", re.MULTILINE)
GPUS = 8
SEED = 7
PREFILL_SECONDS = 14_400.0


class Node:
    """A dcgm-exporter whose page shows the node `seconds()` into its life, and a BMC.

    With a recorded `tree` the BMC is that one, else it is the simulator's.
    """

    def __init__(self, seconds: Callable[[], float], tree: Path | None) -> None:
        machines = lay_out(nodes=1, racks=1, seed=SEED, workload=Workload.TRAINING)
        self.fleet = Fleet(
            machines, monotonic=seconds, speed=1.0, prefill_seconds=PREFILL_SECONDS, gpus=GPUS
        )
        self.fleet.start()
        self.name = machines[0].node
        self.trouble: Callable[[str], str | None] = lambda text: text
        """Changes the page, for benchmarks of bad days; None is a page that answers 500."""
        self._more = _families_beyond(self._text())
        self._dcgm = Server(self._page, host="127.0.0.1", port=0, threads=2)
        self._dcgm.start()
        self.bmc: FakeBmc | None = None
        self._simulated: Server | None = None
        if tree is not None:
            self.bmc = FakeBmc(recorded(tree))
        else:
            bmc = Bmc(self._reading, Credentials("forewarn", "secret"), monotonic=seconds)
            self._simulated = Server(bmc, host="127.0.0.1", port=0, threads=2)
            self._simulated.start()

    @property
    def dcgm_url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self._dcgm.port}/metrics"

    def bmc_settings(self, folder: Path) -> dict[str, str]:
        """Return the exporter's section `bmc`; credentials go to `folder`."""
        if self.bmc is not None:
            return {"url": self.bmc.url}
        assert self._simulated is not None  # noqa: S101 - one of the two, by construction
        (folder / "user").write_text("forewarn", encoding="utf-8")
        (folder / "password").write_text("secret", encoding="utf-8")
        files = {"username_file": str(folder / "user"), "password_file": str(folder / "password")}
        return {"url": f"http://127.0.0.1:{self._simulated.port}", **files}

    def close(self) -> None:
        """Free all ports."""
        self._dcgm.close()
        if self.bmc is not None:
            self.bmc.close()
        if self._simulated is not None:
            self._simulated.close()

    def _reading(self) -> Any:
        return self.fleet.reading(self.name)

    def _text(self) -> str:
        return dcgm.page(self._reading(), SEED)

    def _page(self, _: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        text = self._text()
        boards = CORE_TEMPERATURE.findall(text)
        lines = [f"{name}{labels} 0\n" for name in self._more for labels in boards]
        changed = self.trouble(text + "".join(lines))
        status = "200 OK" if changed is not None else "500 Internal Server Error"
        start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [(changed or "").encode()]


def _families_beyond(text: str) -> list[str]:
    """Return the families of the shipped counter list that the simulated page leaves out."""
    rows = csv.reader(COUNTERS.read_text(encoding="utf-8").splitlines())
    names = [row[0].strip() for row in rows if row and not row[0].startswith("#")]
    return [name for name in names if f"# TYPE {name} " not in text]


def model_for(folder: Path) -> str:
    """Put a fleet artefact into `folder`; returns which one it is."""
    path = folder / "fleet.onnx"
    if BUNDLED.exists():
        path.write_bytes(BUNDLED.read_bytes())
        return f"bundled, {BUNDLED.stat().st_size / 1024:.0f} KiB"
    artefact.write(path, tuple(schema.BY_NAME), window_steps=schema.WINDOW_STEPS)
    return "a tiny stand-in over all channels, since the bundled one is not here"
