"""Taints: what keeps pods off a node, whoever put it there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    PREFER = "PreferNoSchedule"
    FORBID = "NoSchedule"
    EXPEL = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """One taint, whoever put it; `time_added` is kept as the server wrote it."""

    key: str
    effect: str
    value: str = ""
    time_added: str = ""
