"""The ledger as stored: strict to read, the same bytes to write, cheap to repeat."""

from __future__ import annotations

import pytest

from remediation.alert import Severity, Status
from remediation.policy.bounds.limits import Limits
from remediation.policy.facts.ledger import Ledger, LedgerUnreadable, decode, encode
from remediation.policy.facts.mark import Mark, MarkUnreadable, decode_mark, encode_mark
from remediation.policy.facts.suspects import (
    MOST_GHOSTS,
    LedgerFull,
    hear,
    reconcile,
    without_ghosts,
)
from remediation.policy.plan import plan
from tests.remediation.builders import NOW, a_ledger, a_mark, a_suspect_snapshot, an_alert

LIMITS = Limits(suspects=2)


def test_what_is_written_is_read_again() -> None:
    ledger = plan(a_suspect_snapshot()).ledger
    assert decode(encode(ledger)) == ledger


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="cut-short"),
        pytest.param('{"grants": []}', id="wrong-type"),
        pytest.param('{"granted": {}}', id="unknown-key"),
        pytest.param('{"version": 2}', id="later-version"),
        pytest.param('{"pause": {"author": "ana"}}', id="half-a-pause"),
    ],
)
def test_garbage_is_not_repaired(text: str) -> None:
    with pytest.raises(LedgerUnreadable, match="ledger: "):
        decode(text)


def test_a_repeated_post_changes_nothing() -> None:
    ledger = a_ledger(an_alert())
    assert hear(ledger, (an_alert(),), now=NOW + 300, limits=LIMITS) is ledger


def test_a_resolved_alert_ends_its_suspect_and_no_other() -> None:
    other = an_alert(cause="thermal")
    ended = an_alert(status=Status.RESOLVED)
    after = hear(a_ledger(an_alert(), other), (ended,), now=NOW, limits=LIMITS)
    assert list(after.suspects) == [other.key]


def test_a_resolve_that_was_never_preceded_changes_nothing() -> None:
    ledger = a_ledger()
    assert hear(ledger, (an_alert(status=Status.RESOLVED),), now=NOW, limits=LIMITS) is ledger


def test_a_full_ledger_refuses_rather_than_forgets() -> None:
    ledger = a_ledger(an_alert("n1"), an_alert("n2"))
    with pytest.raises(LedgerFull, match="3 suspects with this post, 2 without it, at most 2"):
        hear(ledger, (an_alert("n3"),), now=NOW, limits=LIMITS)


def test_asking_alertmanager_keeps_the_worst_when_there_is_no_room_for_all() -> None:
    listed = (
        an_alert("n1", severity=Severity.WARNING),
        an_alert("n2", severity=Severity.WARNING),
        an_alert("n3"),
    )
    after = reconcile(Ledger(), listed, polled_at=NOW, now=NOW, limits=LIMITS)
    assert {suspect.node for suspect in after.suspects.values()} == {"n3", "n1"}


def test_nodes_that_are_not_there_take_nobodys_place() -> None:
    ghosts = tuple(an_alert(f"ghost-{number:04}") for number in range(100))
    ledger = hear(Ledger(), (an_alert("n1"),), now=NOW, limits=LIMITS)
    room, pool = Limits(suspects=20), {"n1", "n2", "n3"}
    heard = without_ghosts(ledger.suspects, (*ghosts, an_alert("n2")), pool, room)
    assert heard == (*ghosts[:MOST_GHOSTS], an_alert("n2"))
    full = without_ghosts(ledger.suspects, (*ghosts, an_alert("n2")), pool, LIMITS)
    assert full == (an_alert("n2"),)
    later = hear(ledger, heard, now=NOW, limits=room)
    assert without_ghosts(later.suspects, (*ghosts, an_alert("n3")), pool, room) == (
        *ghosts[:MOST_GHOSTS],
        an_alert("n3"),
    )


def test_the_end_of_an_alert_is_heard_of_every_node_and_all_of_a_pool_that_is_not_known() -> None:
    ended = tuple(an_alert(f"g{number}", status=Status.RESOLVED) for number in range(40))
    assert without_ghosts({}, ended, {"n1"}, LIMITS) == ended
    firing = tuple(an_alert(f"g{number}") for number in range(40))
    assert without_ghosts({}, firing, (), LIMITS) == firing


def test_asking_alertmanager_brings_what_is_there_before_what_is_not() -> None:
    ghosts = tuple(an_alert(f"a-ghost-{number}") for number in range(40))
    warned = an_alert("n1", severity=Severity.WARNING)
    after = reconcile(
        Ledger(), (*ghosts, warned), polled_at=NOW, now=NOW, limits=Limits(suspects=3), pool={"n1"}
    )
    assert len(after.suspects) == 3
    assert warned.key in after.suspects


def test_a_mark_is_small_however_long_its_reason() -> None:
    text = encode_mark(a_mark(reason="x" * 10_000))
    assert len(text) < 2048
    assert decode_mark(text).episode == "n1.e"


@pytest.mark.parametrize("text", ["", "yes", '{"episode": "e"}', "[]"])
def test_a_mark_in_other_words_is_unreadable(text: str) -> None:
    with pytest.raises(MarkUnreadable, match=r"forewarn\.dev/episode"):
        decode_mark(text)


def test_a_mark_is_written_as_a_whole() -> None:
    mark = a_mark()
    assert isinstance(decode_mark(encode_mark(mark)), Mark)
    assert decode_mark(encode_mark(mark)) == mark
