"""Posts that wait for the loop are recorded with what follows from them, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from remediation.inbox import Ticket
from remediation.policy.bounds.limits import Mode
from tests.remediation.builders import (
    NOW,
    a_ledger,
    a_policy,
    an_alert,
)

if TYPE_CHECKING:
    pass
from tests.remediation.loop.test_loop import Scene


def test_a_post_is_recorded_with_the_grant_that_follows_from_it() -> None:
    ticket = Ticket((an_alert("n3"),), NOW)
    scene = Scene(alerts=(an_alert(), an_alert("n3")), tickets=(ticket,))
    scene.ledger.ledger = a_ledger()
    scene.loop.tick()
    assert scene.order.count("ledger") == scene.ledger.writes == 1
    assert "exclude n3" in scene.order[1:]
    assert {"n1", "n2", "n3"} == set(scene.ledger.ledger.grants)
    assert ticket.wait(0) is True


def test_a_post_survives_a_rival_write_of_the_ledger() -> None:
    ticket = Ticket((an_alert("n3"),), NOW)
    scene = Scene(alerts=(an_alert(), an_alert("n3")), tickets=(ticket,))
    scene.ledger.ledger = a_ledger()
    scene.ledger.rivals = 1
    scene.loop.tick()
    assert "n3" in {suspect.node for suspect in scene.ledger.ledger.suspects.values()}
    assert ticket.wait(0) is True


def test_a_post_whose_record_lost_its_answer_was_recorded_once() -> None:
    ticket = Ticket((an_alert("n3"),), NOW)
    scene = Scene(alerts=(an_alert("n3"),), tickets=(ticket,))
    scene.ledger.ledger = a_ledger()
    scene.ledger.loses_answers = True
    scene.loop.tick()
    assert scene.ledger.writes == 1
    assert ticket.wait(0) is True


def test_a_post_is_not_recorded_by_a_tick_that_failed_or_does_not_lead() -> None:
    for scene in (Scene(leads=0), Scene()):
        ticket = Ticket((an_alert("n3"),), NOW)
        scene.tickets = (ticket,)
        scene.ledger.rivals = 100
        scene.loop.tick()
        assert ticket.wait(0) is None


def test_a_post_is_known_already_only_by_a_fresh_ledger() -> None:
    ticket = Ticket((an_alert(),), NOW)
    scene = Scene(policy=a_policy(Mode.OBSERVE), tickets=(ticket,))
    scene.loop.tick()
    scene.ledger.seen = scene.ledger.read()
    empty = msgspec.structs.replace(scene.ledger.ledger, suspects={})
    scene.ledger.write(empty, str(scene.ledger.version))
    scene.tickets = (Ticket((an_alert(),), NOW),)
    scene.loop.tick()
    assert "n1" in {suspect.node for suspect in scene.ledger.ledger.suspects.values()}
