"""What crosses from a source to the rest of the exporter: readings, or named kinds of missing.

This is the seam between the readers of the hardware and everything that judges
what they read.  Values are in the units of `model.schema`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class SourceName(StrEnum):
    """Who was asked; also the metric label."""

    DCGM = "dcgm"
    REDFISH = "redfish"
    FACILITY = "facility"
    """The facility exporter's page; in facility mode, the equipment itself."""


class Missing(StrEnum):
    """Why one channel of one place has no value; each is evidence of its own, none is zero."""

    ABSENT_FAMILY = "absent_family"
    """The source answered and does not deliver this channel at all."""
    ABSENT_SERIES = "absent_series"
    """The source delivers the channel for other GPUs, not for this one."""
    SENTINEL = "sentinel"
    """The source says blank, not found, not supported or not permitted."""
    ZERO_MEANS_NONE = "zero_means_none"
    """A zero where the hardware has no sensor."""
    NOT_FINITE = "not_finite"
    OUT_OF_RANGE = "out_of_range"
    """Outside what is physically possible; never clipped."""
    UNREADABLE = "unreadable"
    """There was text where a number belongs, or a null."""
    AMBIGUOUS = "ambiguous"
    """Several values claim to be the same reading and no rule picks one."""
    SENSOR_ABSENT = "sensor_absent"
    """The source names the sensor and says that it is not there."""
    HOST_OFF = "host_off"
    """The sensor talks while the host is off, so it says nothing of the node."""
    FROZEN = "frozen"
    """Nothing that used to jitter moves any more: a copy, not a reading."""
    STALE = "stale"
    """Too old to count as now: read long ago, or an old copy that the source repeats."""
    CONTRADICTED = "contradicted"
    """Another reading of the same moment proves it wrong."""
    GPU_GONE = "gpu_gone"
    """An expected GPU has no series while its siblings report."""
    SOURCE_DOWN = "source_down"
    """The source gave no answer at all."""
    NO_SOURCE = "no_source"
    """Nobody is asked for it: the settings name no such source."""


class Reason(StrEnum):
    """What went wrong with a source; the closed label of its error counter."""

    TIMEOUT = "timeout"
    HANG = "hang"
    """The read did not come back within its deadline and still runs."""
    UNREACHABLE = "unreachable"
    TLS = "tls"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    PASSWORD_CHANGE_REQUIRED = "password_change_required"  # noqa: S105 - a reason, not a secret
    SECRET_UNREADABLE = "secret_unreadable"  # noqa: S105 - a reason, not a secret
    REDIRECTED = "redirected"
    NOT_FOUND = "not_found"
    HTTP_500 = "http_500"
    HTTP_503 = "http_503"
    HTTP_OTHER = "http_other"
    BAD_CONTENT = "bad_content"
    """An answer that is not in the promised format as a whole."""
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    """The answer ended early; what came before was used."""
    EMPTY = "empty"
    NO_SAMPLES = "no_samples"
    """Families are announced, no GPU sample follows."""
    LEGACY_NAMES = "legacy_names"
    """dcgm-exporter 1.x: its names are recognised and refused."""
    FACILITY_TREE = "facility_tree"
    """The address answers for a CDU, PDU or power shelf, not for a node."""
    NO_RESOURCE = "no_resource"
    """The tree offers nothing that could be read."""
    BAD_LINE = "bad_line"
    """One line or one member was skipped; the rest was used."""
    OUT_OF_RANGE = "out_of_range"
    NOT_FINITE = "not_finite"
    AMBIGUOUS = "ambiguous"
    STALE = "stale"
    """A GPU whose every reading stands still, energy included: an old copy."""
    CONTRADICTED = "contradicted"
    UNKNOWN_STATUS = "unknown_status"
    """A status value outside its enumeration was read as unknown."""
    UNEXPECTED = "unexpected"
    """A defect of the reader itself; the log has the traceback."""


class Place(NamedTuple):
    """Where a reading belongs: a channel of one GPU, or of the node (`uuid` None)."""

    channel: str
    uuid: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Gpu:
    """A GPU as its source names it; `uuid` is its identity, `index` is only for people."""

    uuid: str
    index: str


@dataclass(frozen=True, slots=True, order=True)
class Workload:
    """A pod's container that the source saw on a GPU."""

    uuid: str
    namespace: str
    pod: str
    container: str


class LeftAfter(StrEnum):
    """What the source did between the last page with a GPU and the first one without."""

    RUNNING = "running"
    """Nothing: page followed page."""
    RELOAD = "reload"
    """It answered without samples, as it does while it reads its list of devices anew."""
    GAP = "gap"
    """It did not answer, as after a restart."""


@dataclass(frozen=True, slots=True, order=True)
class Departure:
    """How a GPU left the page while its siblings stayed, as far as the pages tell."""

    uuid: str
    after: LeftAfter
    busy: bool
    hardware_xid: bool


@dataclass(frozen=True, slots=True)
class SourceReadings:
    """One successful read.

    A place is in `values` or in `missing`, never in both; a place in neither
    was not asked for.  `errors` counts what was survived in this read.
    `strategy` says how it was obtained, `requests` how many it took; `ages` names
    what was read before, in its turn, and how many seconds ago.
    """

    source: SourceName
    values: Mapping[Place, float] = field(default_factory=dict)
    missing: Mapping[Place, Missing] = field(default_factory=dict)
    gpus: tuple[Gpu, ...] = ()
    workloads: tuple[Workload, ...] = ()
    departures: tuple[Departure, ...] = ()
    errors: Mapping[Reason, int] = field(default_factory=dict)
    strategy: str = ""
    requests: int = 1
    complete: bool = True
    cut: str = ""
    """Where an answer that is not complete ended."""
    ages: Mapping[Place, float] = field(default_factory=dict)


class SourceFailed(Exception):
    """A read that gave nothing: `reason` is counted, `detail` is one clear line for the log."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Source(Protocol):
    """Something that can be asked for readings by one thread at a time.

    A reader keeps its own request time-outs within its deadline, sends nothing
    beyond what one cycle needs, and never retries inside a cycle: pacing,
    back-off and the breaker belong to the frame that calls it.
    """

    name: SourceName

    def read(self, now: float) -> SourceReadings:
        """Read once; `now` is monotonic seconds.  Raises only `SourceFailed`."""
        ...

    def close(self) -> None:
        """Give back what the source holds at the other end; must not raise.

        Called once, at the end, if need be while a read hangs in its own thread.
        """
        ...
