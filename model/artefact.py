"""The artefact contract: names, shapes and metadata of the one ONNX file.

inputs   window [gpu, step, channel] float32, units of the schema, NaN missing,
         counters as increments per step; state [gpu, k] float32, zeros at start
outputs  node_probability [horizon], cause_probability [cause, horizon],
         gpu_probability [gpu, horizon], score [gpu],
         contribution [gpu, channel], state_out [gpu, k]
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

METADATA_KEY = "forewarn"
INPUTS = ("window", "state")
OUTPUTS = (
    "node_probability",
    "cause_probability",
    "gpu_probability",
    "score",
    "contribution",
    "state_out",
)

Provenance = Literal["bundled-simulated", "fleet", "node"]


class ChannelUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One input channel; without a required one the artefact may not predict."""

    name: str
    unit: str
    required: bool


class Training(msgspec.Struct, frozen=True):
    """What the artefact was trained on: wall-clock range (seconds), grid rows, episodes, seed.

    `left_out` are the kinds of story that were kept from it on purpose, for an evaluation.
    `gpus` are the numbers of GPUs that its nodes had; of a node's own model those of the
    fleet's, which taught it what evidence is worth; empty where that was not told.
    """

    first_timestamp: float
    last_timestamp: float
    rows: int
    episodes: int
    seed: int
    left_out: tuple[str, ...] = ()
    gpus: tuple[int, ...] = ()


class Evaluation(msgspec.Struct, frozen=True):
    """What it was worth on data it never saw, always beside its base rate.

    An alert is a crossing of `threshold` by the probability of `horizon`.
    Rates are per node-week; `base_rate_per_node_week` is that of the evaluated
    data, which is richer in failures than the field.  Few node-weeks without a
    false alert prove little, so `precision_at_field_rate_lower` says what the
    recall gives at `field_rate_per_node_week` with false alerts as frequent as
    their upper bound (one-sided, 95 %).  Quartiles are the lower and the upper
    one.  Brier scores are weighed to the field's rate of failures.
    """

    data: str
    horizon: str
    threshold: float
    events: int
    node_weeks: float
    base_rate_per_node_week: float
    event_recall: float
    precision: float
    precision_at_field_rate_lower: float
    field_rate_per_node_week: float
    false_alerts_per_node_week: float
    false_alerts_per_node_week_upper: float
    median_lead_hours: float
    lead_hours_quartiles: tuple[float, float]
    brier: float
    brier_of_base_rate: float
    brier_of_always_healthy: float


class BaseRate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often a node fails where nothing speaks for it: what the graph multiplies with evidence.

    Failures per node-week by cause; `origin` says in words where that is from.
    `set_later` than the evaluation, which then is of another rate.
    """

    per_node_week: dict[str, float]
    origin: str
    set_later: bool = False

    @property
    def total(self) -> float:
        """Failures per node-week, whatever the cause."""
        return sum(self.per_node_week.values())


class ArtefactInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything an artefact says of itself; stored as JSON under `METADATA_KEY`.

    What is at its default is not written, so that a runtime of before a field
    existed refuses only the artefacts that say something in it.
    """

    schema_version: int
    schema_fingerprint: str
    channels: Annotated[tuple[ChannelUse, ...], Meta(min_length=1)]
    step_seconds: Annotated[int, Meta(ge=1)]
    window_steps: Annotated[int, Meta(ge=1, le=100_000)]
    state_width: Annotated[int, Meta(ge=1, le=100_000)]
    horizons: tuple[str, ...]
    causes: tuple[str, ...]
    scope: Literal["fleet", "node"]
    provenance: Provenance
    version: str
    trained_timestamp: float
    training: Training
    evaluation: Evaluation
    frameworks: dict[str, str]
    seed: int
    node: str = ""
    training_ranges: dict[str, tuple[float, float]] = {}
    """Where physical quantities lay on healthy training nodes, in the channel's unit.

    What an artefact does not tell cannot be told to have drifted.
    """
    base_rate: BaseRate | None = None
    """None in artefacts that were made before they told it."""
    unseen: tuple[str, ...] = ()
    """Inputs that no training node showed: the model is blind in them, and whoever runs it
    shows it nothing there, since it could only take any reading for strange."""

    @property
    def names(self) -> tuple[str, ...]:
        """Channel names in input order."""
        return tuple(channel.name for channel in self.channels)

    @property
    def required(self) -> frozenset[str]:
        """Channels without which no probability may be published."""
        return frozenset(channel.name for channel in self.channels if channel.required)
