"""Tests of the training half.  Where its framework is not installed they are not collected;

`tests/model/command/test_train.py` is, and skips visibly.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["*/test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder belongs to the training tier."""
    here = __file__.rpartition("/")[0]
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.training)
