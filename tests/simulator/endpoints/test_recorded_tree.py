"""A recorded tree is served as it lies there, to whoever asks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import requests

from daemon.serving import Server
from simulator.cli import run
from simulator.endpoints.redfish.recorded import RecordedTree

if TYPE_CHECKING:
    from pathlib import Path


def test_documents_answer_at_their_paths_and_a_broken_one_is_left_out(tmp_path: Path) -> None:
    for name, text in (("redfish/v1", '{"Name": "root"}'), ("redfish/v1/Broken", "{")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "index.json").write_text(text)
    tree = RecordedTree(tmp_path)
    assert (len(tree), [path.parent.name for path in tree.left_out]) == (1, ["Broken"])
    server = Server(tree, host="127.0.0.1", port=0, threads=1)
    server.start()
    try:
        url = f"http://127.0.0.1:{server.port}/redfish/v1"
        assert json.loads(requests.get(f"{url}/", timeout=5).text) == {"Name": "root"}
        assert requests.get(f"{url}/Broken", timeout=5).status_code == 404
        assert requests.get(f"{url}/../../../etc/passwd", timeout=5).status_code == 404
        assert requests.post(url, timeout=5).status_code == 405
    finally:
        server.close()


def test_a_folder_without_a_tree_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--tree", str(tmp_path)]) == 2
    assert "expected a folder with redfish/v1/index.json in it" in capsys.readouterr().err
