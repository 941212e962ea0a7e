"""What Alertmanager makes of each answer: why we answer as we do, from its oldest to its newest.

All alerts fire at once and are watched for as long as the slowest row takes.
"""

from __future__ import annotations

import itertools
import time
from datetime import timedelta

import pytest
import requests

from tests.contracts.alertmanager.conftest import GROUP_SECONDS, NOBODY, ROUTES, Posting
from tests.contracts.alertmanager.receiver import Call

pytestmark = pytest.mark.services
# A flush is cut after ten seconds at the least, whatever the interval of its group.
CUT_SECONDS = 10.0
WATCH_SECONDS = CUT_SECONDS + 4.0
FEW = ("n1", "n2", "n3", "n4", "n5")


@pytest.fixture(scope="module")
def watched(posting: Posting) -> Posting:
    """Everything has fired, and was watched for a while."""
    for path in (*ROUTES, NOBODY):
        posting.fire(path, *FEW) if path.startswith("/few") else posting.fire(path)
    time.sleep(WATCH_SECONDS)
    return posting


def failures(posting: Posting) -> float:
    """How many posts the program itself counts as failed."""
    lines = requests.get(f"{posting.url}/metrics", timeout=5).text.splitlines()
    name = "alertmanager_notification_requests_failed_total"
    counted = (line.rpartition(" ")[2] for line in lines if line.startswith(name))
    return sum(map(float, counted))


def gaps(calls: list[Call]) -> list[float]:
    return [later.at - one.at for one, later in itertools.pairwise(calls)]


@pytest.mark.parametrize("path", ["/ok/200", "/ok/204"])
def test_any_2xx_ends_it_until_it_is_repeated(watched: Posting, path: str) -> None:
    assert len(watched.receiver.of(path)) == 1


@pytest.mark.parametrize("path", ["/no/400", "/no/401", "/no/429"])
def test_a_4xx_is_tried_once_and_again_at_every_interval(watched: Posting, path: str) -> None:
    calls = watched.receiver.of(path)
    assert len(calls) >= 3
    assert min(gaps(calls)) > GROUP_SECONDS / 2


@pytest.mark.parametrize("path", ["/broken/500", "/broken/503"])
def test_a_5xx_is_tried_again_within_the_second(watched: Posting, path: str) -> None:
    calls = watched.receiver.of(path)
    assert len(calls) >= 5
    assert min(gaps(calls)) < 1.5


def test_a_redirection_becomes_a_get_without_a_body_and_counts_as_delivered(
    watched: Posting,
) -> None:
    assert len(watched.receiver.of("/moved/302")) == 1
    (followed,) = watched.receiver.of("/after-302/200")
    assert (followed.method, followed.body) == ("GET", None)


def test_a_307_is_followed_as_it_was(watched: Posting) -> None:
    (followed,) = watched.receiver.of("/after-307/200")
    assert followed.method == "POST"
    assert followed.body is not None
    assert followed.body["alerts"]


def test_who_answers_late_is_cut_off_and_asked_again_at_once(watched: Posting) -> None:
    calls = watched.receiver.of("/slow/200")
    assert len(calls) >= 2
    assert CUT_SECONDS - 1 < calls[1].at - calls[0].at < CUT_SECONDS + GROUP_SECONDS + 2


def test_a_refused_connection_is_tried_again(watched: Posting) -> None:
    before = failures(watched)
    time.sleep(2)
    assert failures(watched) > before


def test_alerts_that_did_not_fit_are_only_counted(watched: Posting) -> None:
    # A slow machine may post of the first before the last has come in.
    call = watched.receiver.of("/few/200")[-1]
    assert call.body is not None
    assert len(call.body["alerts"]) == 2
    assert call.body["truncatedAlerts"] == 3


def test_the_end_of_a_silenced_alert_is_never_told(watched: Posting) -> None:
    watched.silence("/ok/204")
    for path in ("/ok/200", "/ok/204"):
        watched.fire(path, ends=timedelta(seconds=-1))
    deadline = time.monotonic() + 15
    while len(watched.receiver.of("/ok/200")) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    told = watched.receiver.of("/ok/200")[-1]
    assert told.body is not None
    assert [one["status"] for one in told.body["alerts"]] == ["resolved"]
    time.sleep(2 * GROUP_SECONDS)
    assert len(watched.receiver.of("/ok/204")) == 1


def test_an_alert_that_nobody_renews_resolves_by_itself(watched: Posting) -> None:
    watched.fire("/ok/204", "n9")  # silenced with the others of its path by now
    watched.fire("/ok/200", "n9", ends=timedelta(seconds=3))
    deadline = time.monotonic() + 20
    while not _resolved(watched, "n9") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _resolved(watched, "n9")


def _resolved(posting: Posting, node: str) -> bool:
    return any(
        alert["labels"]["node"] == node and alert["status"] == "resolved"
        for call in posting.receiver.of("/ok/200")
        for alert in (call.body or {"alerts": []})["alerts"]
    )


def test_what_is_posted_is_what_we_read(watched: Posting) -> None:
    call = watched.receiver.of("/ok/200")[0]
    assert call.body is not None
    assert call.body["version"] == "4"
    (alert,) = call.body["alerts"]
    assert alert["endsAt"] == "0001-01-01T00:00:00Z"
    assert len(alert["fingerprint"]) == 16
