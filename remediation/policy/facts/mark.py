"""The mark: an episode as it is written on its node, in the PATCH that it explains."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from remediation.policy.bounds.limits import Rung
from remediation.policy.facts.device import Device
from remediation.policy.facts.handed import Handed

EPISODE_ANNOTATION = "forewarn.dev/episode"
_MARK_LIMIT_BYTES = 2048


class MarkState(StrEnum):
    """What the annotation says of an episode; finer states are derived each tick."""

    ELEVATED = "elevated"
    EXCLUDED = "excluded"
    DRAINED = "drained"
    VERIFYING = "verifying"
    PROBATION = "probation"


class MarkUnreadable(Exception):
    """The node carries our annotation, but not in our words."""


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The episode as written on the node, always in the PATCH that it explains.

    `cordoned` says that we cordoned; `prior_unschedulable` what we found.
    `since` is when the state was entered (Unix seconds).  `horizon` and `cause`
    name the probability that must be low before release.  `probation` says that
    it came back from an exclusion without having proven itself.  With a `gpu` the
    taint is on that device and the node itself stays in service.  `handed` names
    the object by which a drained node was handed over.
    """

    episode: str
    node_uid: str
    state: MarkState
    rung: Rung
    grant: str
    since: float
    reason: str
    cordoned: bool
    epoch: int
    prior_unschedulable: bool = False
    probation: bool = False
    horizon: str = ""
    cause: str = ""
    boot_id: str = ""
    gpu: Device | None = None
    handed: Handed | None = None

    @property
    def taints_gpu(self) -> bool:
        """Whether a device taint of ours must be there; on probation it is off again."""
        return self.gpu is not None and self.state is not MarkState.PROBATION

    @property
    def takes(self) -> bool:
        """Whether it takes something away, the node or a GPU of it, not just advises."""
        return self.cordoned or self.taints_gpu


def encode_mark(mark: Mark) -> str:
    """Write a mark; the reason is cut so that the whole stays small."""
    text = _written(mark)
    if len(text.encode()) <= _MARK_LIMIT_BYTES:
        return text
    return _written(msgspec.structs.replace(mark, reason=mark.reason[:200]))


def _written(mark: Mark) -> str:
    fields = msgspec.to_builtins(mark)
    for name in ("gpu", "handed"):
        if fields[name] is None:
            del fields[name]  # so that replicas that do not know it yet can read the others
    return msgspec.json.encode(fields).decode()


_MARKS = msgspec.json.Decoder(Mark)


def decode_mark(text: str) -> Mark:
    """Read a mark; raises `MarkUnreadable`."""
    try:
        return _MARKS.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkUnreadable(f"{EPISODE_ANNOTATION}: {error}") from error
