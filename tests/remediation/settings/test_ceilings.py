"""A ceiling is for a cause that exists: a misspelt one would leave the real one without."""

from __future__ import annotations

import pytest

from daemon.settings import SettingsError, parse
from model.schema import Cause
from remediation.policy.bounds.limits import CAUSES
from remediation.settings import Settings


def test_a_misspelt_cause_is_refused() -> None:
    text = "policy: {ceilings: {gremlins: observe}}"
    with pytest.raises(SettingsError, match=r"\['gremlins'\]: expected causes among"):
        parse(text, Settings, origin="x.yml")


def test_the_causes_are_those_of_the_predictor() -> None:
    assert frozenset(Cause) == CAUSES
