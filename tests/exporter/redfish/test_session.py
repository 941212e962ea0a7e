"""One session for the life of the process, and the brakes that keep accounts from being locked."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.readings import Reason, SourceFailed
from tests.exporter.redfish.fake_bmc import Fault
from tests.exporter.redfish.small_tree import ROOT, SYSTEM, THERMAL, small_tree

SESSIONS = f"{ROOT}/SessionService/Sessions"
FULL = b'{"error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.4.RAC0218"}]}}'
MUST_CHANGE = (
    b'{"@Message.ExtendedInfo": [{"MessageId": "Base.1.8.PasswordChangeRequired"}],'
    b' "@odata.id": "/redfish/v1/SessionService/Sessions/9"}'
)


def posts(bmc) -> int:
    return sum(method == "POST" for method, _ in bmc.requests)


def test_many_cycles_share_one_session(bench) -> None:
    one = bench(small_tree(), auth=True)
    for _ in range(10):
        one.read()
    assert one.bmc.opened == 1


def test_closing_deletes_the_session(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.read()
    one.source.close()
    assert one.bmc.deleted == 1
    assert one.bmc.sessions == {}


def test_closing_twice_or_with_a_dead_bmc_does_not_raise(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.read()
    one.bmc.faults[f"{SESSIONS}/1"] = Fault(status=500, method="DELETE")
    one.source.close()
    one.source.close()


def test_a_dropped_session_costs_one_new_log_in_and_no_reading(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.read()
    one.bmc.sessions.clear()
    readings = one.read()
    assert readings.values
    assert one.bmc.opened == 2


def test_two_refused_log_ins_stop_all_requests_for_a_quarter_of_an_hour(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.password = "another"
    reasons = []
    for _ in range(12):
        with pytest.raises(SourceFailed) as failure:
            one.read()
        reasons.append(failure.value.reason)
    assert set(reasons) == {Reason.UNAUTHORIZED}
    assert posts(one.bmc) == 2
    one.hands.advance(900)
    with pytest.raises(SourceFailed):
        one.read()
    assert posts(one.bmc) == 3


def test_a_changed_secret_is_tried_at_once(bench, secrets: tuple[Path, Path]) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.password = "rotated"
    for _ in range(3):
        with pytest.raises(SourceFailed):
            one.read()
    secrets[1].write_text("rotated", encoding="utf-8")
    assert one.read().values


def test_a_rotated_password_replaces_the_running_session(bench, secrets) -> None:
    one = bench(small_tree(), auth=True)
    one.read()
    one.bmc.password = "rotated"
    secrets[1].write_text("rotated\r\n", encoding="utf-8")
    one.read()
    assert (one.bmc.opened, one.bmc.deleted) == (2, 1)


def test_an_unreadable_secret_is_named_and_nothing_is_sent(bench, secrets) -> None:
    one = bench(small_tree(), auth=True)
    secrets[1].write_text("", encoding="utf-8")
    with pytest.raises(SourceFailed) as failure:
        one.read()
    assert failure.value.reason is Reason.SECRET_UNREADABLE
    assert one.bmc.requests == []


def test_a_forced_password_change_is_one_log_in_and_leaves_no_session(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.faults[SESSIONS] = Fault(
        201, MUST_CHANGE, {"X-Auth-Token": "t", "Location": f"{SESSIONS}/9"}, method="POST"
    )
    for _ in range(5):
        with pytest.raises(SourceFailed) as failure:
            one.read()
        assert failure.value.reason is Reason.PASSWORD_CHANGE_REQUIRED
    assert posts(one.bmc) == 1
    assert ("DELETE", f"{SESSIONS}/9") in one.bmc.requests


def test_answers_that_ask_for_a_new_password_end_the_session_and_all_log_ins(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.faults[f"{ROOT}/Chassis"] = Fault(403, MUST_CHANGE)
    for _ in range(5):
        with pytest.raises(SourceFailed) as failure:
            one.read()
        assert failure.value.reason is Reason.PASSWORD_CHANGE_REQUIRED
    assert (posts(one.bmc), one.bmc.deleted) == (1, 1)


def test_full_session_slots_mean_basic_for_a_while_and_not_a_busy_bmc(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.faults[SESSIONS] = Fault(503, FULL, method="POST")
    assert one.read().values
    assert one.read().values
    assert posts(one.bmc) == 1
    assert one.bmc.opened == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(delay_seconds=0.3, method="POST"),
        Fault(201, b"{}" * 50, {"X-Auth-Token": "t"}, truncate=3, method="POST"),
    ],
    ids=["a stall", "an answer that ends early"],
)
def test_log_ins_without_an_answer_leave_two_sessions_at_most(bench, fault: Fault) -> None:
    one = bench(small_tree(), auth=True, read_timeout_seconds=0.1)
    one.bmc.faults[SESSIONS] = fault
    for _ in range(2):
        with pytest.raises(SourceFailed) as failure:
            one.read()
        assert failure.value.detail.startswith("log-in: ")
    for _ in range(10):
        assert one.read().values
    assert posts(one.bmc) == 2
    one.bmc.faults.clear()
    one.hands.advance(900)
    assert one.read().values
    assert (posts(one.bmc), one.bmc.opened - one.bmc.deleted) == (3, len(one.bmc.sessions))


def test_a_bmc_that_is_off_spends_no_log_in(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.close()
    for _ in range(5):
        with pytest.raises(SourceFailed):
            one.read()
    assert one.source._session._unanswered == 0


def test_an_old_bmc_takes_sessions_at_its_own_address(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.session_paths = (f"{ROOT}/Sessions",)
    assert one.read().values
    assert one.bmc.opened == 1


def test_a_bmc_without_sessions_is_read_with_basic(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.session_paths = ()
    assert one.read().values
    assert one.read().values
    assert posts(one.bmc) == 2


def test_a_log_in_that_is_redirected_within_the_bmc_is_posted_again(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.session_paths = (f"{SESSIONS}/",)
    one.bmc.faults[SESSIONS] = Fault(301, b"", {"Location": f"{SESSIONS}/"}, method="POST")
    assert one.read().values
    assert one.bmc.opened == 1


def test_without_secrets_the_bmc_is_read_anonymously(bench) -> None:
    one = bench(small_tree())
    assert one.read().values
    assert posts(one.bmc) == 0


def test_neither_token_nor_password_is_shown(bench) -> None:
    one = bench(small_tree(), auth=True)
    one.bmc.faults[THERMAL] = Fault(500, b"{}")
    one.bmc.faults[SYSTEM] = Fault(500, b"{}")
    readings = one.read()
    shown = repr(one.source._session) + repr(readings)
    assert "token-1" not in shown
    assert "correct horse" not in shown
