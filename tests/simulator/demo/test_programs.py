"""Prometheus and Alertmanager are found under both of their names, or one line says how."""

from __future__ import annotations

import pytest

from simulator.demo.programs import ProgramMissing, locate


def test_debians_name_of_alertmanager_is_found() -> None:
    have = {"prometheus": "/p", "prometheus-alertmanager": "/a"}
    programs = locate(lambda _: None, have.get)
    assert (programs.prometheus, programs.alertmanager) == ("/p", "/a")


def test_without_a_package_manager_one_line_names_the_command() -> None:
    with pytest.raises(ProgramMissing, match="sudo apt-get install") as caught:
        locate(lambda _: None, {"prometheus": "/p"}.get)
    assert "alertmanager not found" in str(caught.value)
    assert "\n" not in str(caught.value)
