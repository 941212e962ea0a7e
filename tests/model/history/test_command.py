"""The command says what it found, and what is wrong, in one line each; without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.prometheus import HistoryUnreadable, Series, Trouble
from model import cli
from model.history.reader import Reader
from model.sources.series import Steps
from simulator.history import Recording
from tests.factories.history import SimulatedSite
from tests.factories.prometheus import FakePrometheus

STEPS = 800


@pytest.fixture(scope="module")
def site() -> SimulatedSite:
    return SimulatedSite(
        [Recording("healthy", "gpu-a1", 1), Recording("healthy", "gpu-a2", 2)], STEPS
    )


@pytest.fixture
def server(site: SimulatedSite) -> Iterator[FakePrometheus]:
    fake = FakePrometheus(answer=site)
    yield fake
    fake.close()


def plan(server: FakePrometheus, site: SimulatedSite, work: Path, *more: str) -> int:
    span = ("--until", str(site.end), "--days", "0.5")
    return cli.main(["plan", "--prometheus", server.url, *span, "--work", str(work), *more])


def test_a_plan_says_what_it_found_and_is_written(
    server: FakePrometheus, site: SimulatedSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text("node,start,cause\ngpu-A2,2023-11-15T00:00:00Z,power\n")
    assert plan(server, site, tmp_path, "--shards", "5", "--incidents", str(listed)) == 0
    told = capsys.readouterr()
    assert "2 nodes (2 with not named), 0.5 days" in told.out
    assert "5 shards of up to 1 nodes" in told.out
    assert "line 2: node 'gpu-A2': no series knows it; is it 'gpu-a2'?" in told.err
    written = json.loads((tmp_path / "plan.json").read_text())
    assert [node["name"] for node in written["nodes"]] == ["gpu-a1", "gpu-a2"]
    assert written["end"] - written["start"] == 43_200
    assert (tmp_path / "incidents.csv").read_text() == listed.read_text()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--match", "cluster"], "--match 'cluster': expected LABEL=VALUE"),
        (["--nodes", "("], "--nodes '(': not a regular expression"),
        (["--until", "2026-10-25 02:30"], "--until '2026-10-25 02:30': expected an offset or Z"),
        (["--days", "0.0001"], "--days 0.0001: expected more than nothing"),
        (["--token-file", "/nowhere"], "secret_unreadable: /nowhere"),
        (["--nodes", "cpu.*"], "2 values of node, none of which is a node"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(
    server: FakePrometheus, site: SimulatedSite, tmp_path: Path, more: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        plan(server, site, tmp_path, *more)
    assert str(ended.value).startswith("forewarn-model: ")
    assert words in str(ended.value)
    assert "\n" not in str(ended.value)
    assert not (tmp_path / "plan.json").exists()


def test_a_list_with_mistakes_tells_all_of_them_and_plans_nothing(
    server: FakePrometheus, site: SimulatedSite, tmp_path: Path
) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text("node,start,cause\na,now,power\nb,2023-11-15T00:00:00Z,fire\n")
    with pytest.raises(SystemExit, match=r"2 rows cannot be used(.|\n)*line 2:(.|\n)*line 3:"):
        plan(server, site, tmp_path, "--incidents", str(listed))
    assert server.asked == []


@pytest.mark.parametrize("content", ["", "gpu-a1,2023-11-15T00:00:00Z,power\n"])
@pytest.mark.parametrize("command", ["plan", "backtest"])
def test_a_list_without_a_header_is_no_list_of_nothing(
    server: FakePrometheus, tmp_path: Path, command: str, content: str
) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text(content)
    line = [command, *([str(cli.BUNDLED)] if command == "backtest" else [])]
    line += ["--prometheus", server.url, "--work", str(tmp_path), "--incidents", str(listed)]
    with pytest.raises(SystemExit, match=r"list.csv: 1 row(.|\n)*expected a header with node"):
        cli.main(line)
    assert server.asked == []


def test_a_server_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    """A refused connection at the very first question: no wait makes an address right."""
    line = ["plan", "--prometheus", "http://127.0.0.1:9", "--work", str(tmp_path)]
    with pytest.raises(SystemExit, match=r"unreachable: .*: connection refused"):
        cli.main(line)


def test_a_server_that_hangs_up_is_asked_again_and_each_wait_is_told() -> None:
    waits: list[float] = []
    said: list[str] = []

    class HangsUp:
        def query_range(self, *_: object) -> list[Series]:
            if len(waits) == 2:
                return []
            raise HistoryUnreadable(Trouble.UNREACHABLE, "the connection was closed")

    reader = Reader(HangsUp(), waits.append, say=said.append)
    assert reader.ask("up", Steps(0, 60, 2)) == []
    assert waits == [5.0, 10.0]
    assert said[0].endswith("the connection was closed; attempt 2 of 3 in 5 s")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--out", "x"], "expected --prometheus, --work or --simulate SIZE"),
        (["--out", "x", "--prometheus", "http://a:9090"], "--prometheus needs --work"),
    ],
)
def test_training_says_what_it_lacks(
    line: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", *line]) == 2
    assert words in capsys.readouterr().err


def test_training_by_a_plan_that_is_not_there_says_so() -> None:
    with pytest.raises(SystemExit, match=r"/nowhere/plan.json: no such file"):
        cli.main(["train", "--out", "x", "--work", "/nowhere"])


def test_a_plan_is_not_carried_out_for_another_number_of_shares_or_nodes(
    server: FakePrometheus, site: SimulatedSite, tmp_path: Path
) -> None:
    assert plan(server, site, tmp_path, "--shards", "5", "--fleet-nodes", "1") == 0
    line = ["train", "--prometheus", server.url, "--until", str(site.end), "--days", "0.5"]
    line += ["--work", str(tmp_path), "--out", str(tmp_path / "models")]
    with pytest.raises(SystemExit, match="of another --shards and another --fleet-nodes: give"):
        cli.main([*line, "--shards", "4", "--fleet-nodes", "2"])


@pytest.mark.parametrize("command", ["plan", "train", "backtest"])
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main([command, "--help"])
    told = capsys.readouterr().out
    for flag in (
        "--prometheus URL",
        "--family {forewarn,dcgm}",
        "--incidents CSV",
        "--work FOLDER",
    ):
        assert flag in told
