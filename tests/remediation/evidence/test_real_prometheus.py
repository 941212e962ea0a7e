"""Evidence as real Prometheus servers tell it, the oldest and the newest that are supported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
import yaml
from werkzeug.wrappers import Response

from daemon.clocks import system_clock
from daemon.serving import Server
from remediation.evidence.endpoint import Endpoint
from remediation.evidence.http import HttpEvidence
from remediation.policy.bounds.targets import TargetCondition
from simulator.processes import Processes, free_port
from tests.remediation.monitoring import Monitoring
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.monitoring.fixtures import Programs

pytestmark = pytest.mark.services
PAGE = """\
# TYPE forewarn_node_failure_probability gauge
forewarn_node_failure_probability{node="gpu.1",horizon="24h"} 0.7
forewarn_node_failure_probability{node="gpux1",horizon="24h"} 0.1
# TYPE forewarn_cause_failure_probability gauge
forewarn_cause_failure_probability{node="gpu.1",horizon="24h",cause="memory"} 0.6
# TYPE forewarn_gpu_failure_probability gauge
forewarn_gpu_failure_probability{node="gpu.1",gpu="3",uuid="GPU-3",horizon="24h"} 0.6
# TYPE forewarn_prediction_state gauge
forewarn_prediction_state{node="gpu.1",state="ok"} 1
forewarn_prediction_state{node="gpu.1",state="blind"} 0
# TYPE forewarn_model_info gauge
forewarn_model_info{node="gpu.1",provenance="fleet",version="7"} 1
# TYPE forewarn_gpu_temperature_margin_celsius gauge
forewarn_gpu_temperature_margin_celsius{node="gpu.1",gpu="3"} 12
# TYPE forewarn_prediction_timestamp_seconds gauge
"""


def page(environ: Any, start_response: Any) -> Iterable[bytes]:
    now = system_clock().wall()
    text = f'{PAGE}forewarn_prediction_timestamp_seconds{{node="gpu.1"}} {now}\n'
    answer: Iterable[bytes] = Response(text, mimetype="text/plain")(environ, start_response)
    return answer


@pytest.fixture
def prometheus(tmp_path: Path, monitoring_programs: Programs) -> Iterator[str]:
    """A real Prometheus that scrapes one page of ours each second."""
    program = monitoring_programs.find("prometheus")
    exporter = Server(page, host="127.0.0.1", port=0)
    exporter.start()
    target = {"targets": [f"127.0.0.1:{exporter.port}"]}
    job = {"job_name": "forewarn", "scrape_interval": "1s", "static_configs": [target]}
    config = tmp_path / "prometheus.yml"
    config.write_text(yaml.safe_dump({"scrape_configs": [job]}), "utf-8")
    address = f"127.0.0.1:{free_port()}"
    flags = [
        f"--config.file={config}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address={address}",
    ]
    with Processes(tmp_path / "logs") as processes:
        processes.start("prometheus", [program, *flags])
        processes.wait_until_answers("prometheus", f"http://{address}/-/ready")
        yield f"http://{address}"
    exporter.close()


def test_probabilities_state_model_and_age_are_read_by_exact_name(prometheus: str) -> None:
    margin = TargetCondition(
        name="margin",
        query="min by (node) (forewarn_gpu_temperature_margin_celsius)",
        least=5.0,
    )
    with Monitoring() as alerts, requests.Session() as session:

        def endpoint(url: str) -> Endpoint:
            return Endpoint(url, session=session, timeout_seconds=5, token=None)

        evidence = HttpEvidence(
            alertmanager=endpoint(alerts.url),
            prometheus=endpoint(prometheus),
            cluster="",
            distress=tuple,
            targets=lambda: (margin,),
            clock=system_clock(),
            gpus=lambda: True,
        )

        def read() -> Any:
            return evidence.read(frozenset({"gpu.1"})).evidence

        found = eventually(lambda: (seen := read()).predictions and seen)
    assert set(found.predictions) == {"gpu.1"}
    prediction = found.predictions["gpu.1"]
    assert prediction.probabilities == {("24h", ""): 0.7, ("24h", "memory"): 0.6}
    assert prediction.gpus == {("24h", "GPU-3"): 0.6}
    assert (prediction.state, prediction.provenance, prediction.version) == ("ok", "fleet", "7")
    assert -1 < prediction.age_seconds < 30
    assert found.targets == {"margin": {"gpu.1": 12.0}}
