"""History is read in bounded pieces, kept on disk, and read again only where it is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from daemon.prometheus import HistoryUnreadable
from model.history.access import Server
from model.history.chunks import Chunks, Wanted
from model.history.plan import discover
from model.history.question import Address, Question
from model.history.reader import connect
from model.history.record import assemble
from model.history.refused import PlanRefused
from model.history.timeline import LeftOut, timeline
from simulator.history import Recording
from tests.factories.history import START, SimulatedSite
from tests.factories.prometheus import Asked, FakePrometheus, Told

STEPS = 1_500
NAMES = ("gpu_temperature_celsius", "gpu_energy_joules_total", "node_power_watts")
ADDRESS = [Address("node", "n1")]
END = START + STEPS * 60


@pytest.fixture(scope="module")
def site() -> SimulatedSite:
    return SimulatedSite([Recording("healthy", "n1", 3)], STEPS)


@pytest.fixture
def server(site: SimulatedSite) -> Iterator[FakePrometheus]:
    fake = FakePrometheus(answer=site)
    yield fake
    fake.close()


def chunks(folder: Path, server: FakePrometheus) -> Chunks:
    there = Server(server.url)
    return Chunks(folder, Wanted(Question(), NAMES, START, END, there), connect(there))


def test_what_is_on_disk_is_what_the_page_said(
    tmp_path: Path, server: FakePrometheus, site: SimulatedSite
) -> None:
    kept = chunks(tmp_path, server)
    told: list[tuple[int, int]] = []
    kept.fetch("n1", ADDRESS, lambda done, total: told.append((done, total)))
    got = assemble(kept, "n1", NAMES, START, END)
    history = site.histories[0]
    columns = [history.channels.index(name) for name in NAMES]
    np.testing.assert_array_equal(got.values, history.values[:, :, columns])
    assert told[-1] == (3, 3)
    assert max(asked.points for asked in server.asked) <= 720


def test_a_part_of_the_time_and_of_the_channels_can_be_taken(
    tmp_path: Path, server: FakePrometheus, site: SimulatedSite
) -> None:
    kept = chunks(tmp_path, server)
    kept.fetch("n1", ADDRESS, lambda *_: None)
    got = assemble(kept, "n1", NAMES[:1], START + 600 * 60, START + 800 * 60)
    column = site.histories[0].channels.index(NAMES[0])
    np.testing.assert_array_equal(got.values[:, :, 0], site.histories[0].values[:, 600:800, column])


def test_only_what_is_missing_or_damaged_is_asked_again(
    tmp_path: Path, server: FakePrometheus
) -> None:
    chunks(tmp_path, server).fetch("n1", ADDRESS, lambda *_: None)
    first = len(server.asked)
    chunks(tmp_path, server).fetch("n1", ADDRESS, lambda *_: None)
    assert len(server.asked) == first
    files = sorted(tmp_path.rglob("*.npz"))
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:300])
    chunks(tmp_path, server).fetch("n1", ADDRESS, lambda *_: None)
    assert len(server.asked) == first + 2


def test_a_read_that_fails_keeps_what_it_had_and_leaves_no_half_file(
    tmp_path: Path, server: FakePrometheus, site: SimulatedSite
) -> None:
    server.answer = lambda asked: site(asked) if len(server.asked) < 2 else (400, {}, b"no more")
    with pytest.raises(HistoryUnreadable, match="no more"):
        chunks(tmp_path, server).fetch("n1", ADDRESS, lambda *_: None)
    assert {path.suffix for path in tmp_path.rglob("*.*")} == {".npz", ".json"}


def test_an_answer_of_nothing_is_asked_for_again_and_is_left_out_by_its_name(
    tmp_path: Path, server: FakePrometheus, site: SimulatedSite
) -> None:
    def barred(asked: Asked) -> Told | None:
        """Answer as another tenant would from the second half day on."""
        return None if asked.start > START + 600 * 60 else site(asked)

    server.answer = barred
    chunks(tmp_path, server).fetch("n1", ADDRESS, lambda *_: None)
    first = len(server.asked)
    past = timeline(assemble(chunks(tmp_path, server), "n1", NAMES, START, END), [])
    assert past.left_out_hours == {LeftOut.EMPTY: 13}
    server.answer = site
    chunks(tmp_path, server).fetch("n1", ADDRESS, lambda *_: None)
    assert len(server.asked) == first + 2
    past = timeline(assemble(chunks(tmp_path, server), "n1", NAMES, START, END), [])
    assert (past.left_out_hours, past.hours) == ({}, 25.0)


def test_nodes_are_found_by_their_label_and_its_pattern(
    server: FakePrometheus, site: SimulatedSite
) -> None:
    reader = connect(Server(server.url))
    whole = Question(labels=("node",), pattern="n(.*)")
    (found,) = discover(reader, whole, START, END)
    assert (found.name, found.addresses) == ("1", (Address("node", "n1"),))
    assert found.gpus == 2
    with pytest.raises(PlanRefused, match=r"1 values of node, none of which .* for example n1"):
        discover(reader, Question(nodes="gpu-.*"), START, END)


def test_an_answer_without_any_series_is_an_error_and_says_what_to_look_at(
    server: FakePrometheus,
) -> None:
    server.answer = lambda _: None
    with pytest.raises(HistoryUnreadable, match="right server, and the right --family"):
        discover(connect(Server(server.url)), Question(), START, END)


def test_nodes_are_found_also_where_the_server_takes_few_steps_at_a_time(
    server: FakePrometheus, site: SimulatedSite
) -> None:
    refused = (422, {}, b"query processing would load too many samples into memory")
    server.answer = lambda asked: refused if asked.points > 40 else site(asked)
    reader = connect(Server(server.url))
    (found,) = discover(reader, Question(), START, START + 30 * 86_400)
    assert found.name == "n1"
    assert reader.steps_per_request == 720, "the history's own questions are of another size"
