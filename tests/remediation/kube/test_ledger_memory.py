"""What one process remembers of the ledger: the newest, whoever told it."""

from __future__ import annotations

from remediation.kube import wire
from remediation.kube.ledger import KEY, LedgerMemory, remember
from remediation.policy.facts.ledger import Ledger, encode
from remediation.ports import StoredLedger


def told(text: str, version: str) -> wire.ConfigMap:
    return wire.ConfigMap(metadata=wire.Metadata(resource_version=version), data={KEY: text})


def about(version: str) -> wire.Metadata:
    return wire.Metadata(resource_version=version)


def test_only_what_is_newer_is_news() -> None:
    memory = LedgerMemory()
    assert memory.put(Ledger(epoch=1), about("9"))
    assert memory.put(Ledger(epoch=2), about("10"))
    assert not memory.put(Ledger(epoch=2), about("10"))
    assert not memory.put(Ledger(epoch=1), about("9"))
    assert memory.get() == StoredLedger(Ledger(epoch=2), "10")


def test_our_own_write_is_no_news_when_the_watch_tells_it() -> None:
    memory = LedgerMemory()
    memory.put(Ledger(epoch=2), about("10"))
    assert not remember(memory, told(encode(Ledger(epoch=2)), "10"))
    assert remember(memory, told(encode(Ledger(epoch=3)), "11"))
    assert memory.get() == StoredLedger(Ledger(epoch=3), "11")


def test_a_ledger_that_is_gone_or_is_none_is_remembered_by_nobody() -> None:
    memory = LedgerMemory()
    for bad in (None, told("{", "11")):
        memory.put(Ledger(epoch=2), about("10"))
        assert remember(memory, bad)
        assert memory.get() is None
