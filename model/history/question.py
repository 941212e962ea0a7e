"""What is asked of a site's Prometheus: which families, by which labels a node is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from model import schema
from model.sources import dcgm_series, series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.sources.series import Steps


class Family(StrEnum):
    """Whose families hold the past."""

    FOREWARN = "forewarn"
    """The pages of forewarn-exporter: exactly what the model is fed."""
    DCGM = "dcgm"
    """dcgm-exporter's own, for sites that install today."""


NODE_LABELS = {
    Family.FOREWARN: ("node",),
    Family.DCGM: ("Hostname", "hostname"),
}
"""Where a node's name stands when nothing else is said; dcgm-exporter changed the case in 4.8.3."""

WITNESS = {
    Family.FOREWARN: "forewarn_gpu_temperature_celsius",
    Family.DCGM: "(?i:DCGM_FI_DEV_GPU_TEMP|DCGM_FI_DEV_GPU_TEMP_CELSIUS)",
}
"""The family by which nodes are found: every GPU has it."""
TYPE_LABELS = ("modelName", "modelname")


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one site is asked.

    `labels` are those that may hold a node's name, in order; `pattern` takes the
    name out of a label's value (its first group; empty: all of it); `match` are
    labels that every series must carry.
    """

    family: Family = Family.FOREWARN
    labels: tuple[str, ...] = ("node",)
    pattern: str = ""
    match: dict[str, str] = {}
    nodes: str = ""
    """Regular expression over whole node names; empty: all."""

    def name_of(self, value: str) -> str | None:
        """Return the node's name in a label's value, None where the value is no name."""
        if self.pattern:
            found = re.fullmatch(self.pattern, value)
            if found is None:
                return None
            value = found[1] if found.re.groups else found[0]
        wanted = not self.nodes or re.fullmatch(self.nodes, value) is not None
        return value if value and wanted else None

    def query(self, addresses: Sequence[Address], names: Sequence[str]) -> str:
        """Return PromQL for the channels `names` of the node at `addresses`."""
        picks = [{address.label: address.value, **self.match} for address in addresses]
        if self.family is Family.DCGM:
            return dcgm_series.query(names, picks, schema.STEP_SECONDS)
        return series.query(names, picks[0], schema.STEP_SECONDS)

    def decode(
        self, found: Sequence[series.Series], over: Steps, names: Sequence[str]
    ) -> dcgm_series.Told:
        """Return what an answer holds of the channels `names`."""
        if self.family is Family.DCGM:
            return dcgm_series.cube(found, over, names)
        return dcgm_series.Told(series.cube(found, over, names), dcgm_series.unchanged(over))

    def finding(self, label: str) -> str:
        """Return PromQL that lists the values of `label`, by GPU type where that is known."""
        chosen = series.selector(f'__name__=~"{WITNESS[self.family]}"', self.match, 600.0)
        kept = ", ".join((label, *TYPE_LABELS))
        return f"count by ({kept}) (last_over_time({chosen}))"


class Address(msgspec.Struct, frozen=True):
    """A label and its value by which a node's series are found."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Found:
    """A node of the site, the types of GPU that it names, and how many it mostly has."""

    name: str
    addresses: tuple[Address, ...]
    types: tuple[str, ...]
    gpus: int = 0
