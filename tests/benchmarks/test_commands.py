"""Every benchmark can be started: nothing that it is made of has moved away from under it."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import benchmarks

pytestmark = pytest.mark.training
MODULES = sorted(one.name for one in pkgutil.walk_packages(benchmarks.__path__, "benchmarks."))


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_a_benchmark_is_whole(name: str) -> None:
    pytest.importorskip("torch", reason="needs the train extra")
    assert importlib.import_module(name).__doc__
