"""The codes that an artefact knows are those by which history is judged."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs the train extra")

from model.sources import xid
from model.training.network.scaling import HARDWARE_XIDS, PRECURSOR_XIDS

pytestmark = pytest.mark.training
UNREAD = {93, 159}
"""Weak in NVIDIA's catalogue, and in no artefact so far: the next training may take them in."""


def test_what_a_history_calls_a_failure_is_hardware_to_the_network() -> None:
    assert set(HARDWARE_XIDS) == xid.HARDWARE


def test_what_the_network_calls_a_precursor_is_no_failure_and_no_application() -> None:
    told = {code: xid.classify(code) for code in PRECURSOR_XIDS}
    assert set(told.values()) == {xid.XidClass.PRECURSOR}
    assert not UNREAD & set(PRECURSOR_XIDS)
    assert {xid.classify(code) for code in UNREAD} == {xid.XidClass.PRECURSOR}
