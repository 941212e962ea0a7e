"""The whole process: starts, publishes addresses, serves, ends on a signal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.scenario
def test_serve_publishes_addresses_that_answer_and_ends_on_a_signal() -> None:
    command = [sys.executable, "-m", "simulator", "serve", "--nodes", "2", "--json"]
    with subprocess.Popen(
        [*command, "--speed", "600"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        document = json.loads(process.stdout.readline())
        password = Path(document["bmc_password_file"])
        try:
            node = document["nodes"][1]
            assert "DCGM_FI_DEV_GPU_TEMP" in requests.get(node["dcgm_url"], timeout=5).text
            account = (document["bmc_user"], password.read_text(encoding="utf-8"))
            chassis = node["redfish_url"] + "/redfish/v1/Chassis"
            assert requests.get(chassis, auth=account, timeout=5).status_code == 200
            assert password.stat().st_mode & 0o077 == 0
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
    assert not password.exists()
