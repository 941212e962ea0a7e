"""R14: an account that must change its password is tried once, and never locked."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from exporter.readings import Reason, SourceFailed
from tests.exporter.facility.small_cdu import small_cdu
from tests.exporter.redfish.fake_bmc import Fault
from tests.exporter.redfish.small_tree import ROOT, small_tree

SESSIONS = f"{ROOT}/SessionService/Sessions"
OWN = f"{SESSIONS}/7"
MUST_CHANGE = json.dumps(
    {"@Message.ExtendedInfo": [{"MessageId": "Base.1.8.PasswordChangeRequired",
                                "MessageArgs": [f"{ROOT}/AccountService/Accounts/3"]}]}
).encode()  # fmt: skip


def shut_out(bmc) -> None:
    headers = {"X-Auth-Token": "t", "Location": OWN}
    bmc.faults[SESSIONS] = Fault(201, MUST_CHANGE, headers, method="POST")
    for uri in bmc.documents.keys() - {ROOT}:
        bmc.faults[uri] = Fault(403, MUST_CHANGE)


def posts(bmc) -> int:
    return sum(method == "POST" for method, _ in bmc.requests)


def reasons(one, cycles: int) -> set[Reason]:
    found = set()
    for _ in range(cycles):
        with pytest.raises(SourceFailed) as failure:
            one.read()
        found.add(failure.value.reason)
    return found


def test_one_log_in_a_quarter_of_an_hour_and_no_fall_back_to_a_password_in_clear(bench) -> None:
    one = bench(small_tree(), auth=True)
    shut_out(one.bmc)
    assert reasons(one, 14) == {Reason.PASSWORD_CHANGE_REQUIRED}
    assert posts(one.bmc) == 1
    assert one.bmc.requests.count(("DELETE", OWN)) == 1
    assert reasons(one, 46) == {Reason.PASSWORD_CHANGE_REQUIRED}
    assert posts(one.bmc) <= 5, "five log-ins an hour, where five in ten minutes lock"


def test_a_changed_secret_is_tried_at_once(bench, secrets: tuple[Path, Path]) -> None:
    one = bench(small_tree(), auth=True)
    shut_out(one.bmc)
    reasons(one, 2)
    one.bmc.faults.clear()
    one.bmc.password = "changed"
    secrets[1].write_text("changed", encoding="utf-8")
    assert one.read().values


def test_the_same_holds_for_the_facility(plant, secrets: tuple[Path, Path]) -> None:
    files = {"username_file": str(secrets[0]), "password_file": str(secrets[1])}
    one = plant(small_cdu(), **files)
    shut_out(one.bmc)
    for _ in range(14):
        with suppress(SourceFailed):
            one.read()
    assert posts(one.bmc) == 1
    assert one.bmc.requests.count(("DELETE", OWN)) == 1
