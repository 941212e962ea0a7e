"""When one GPU is tainted instead of its node; as shipped, never."""

from __future__ import annotations

from remediation.policy.bounds.checks import Part, ratio


class GpuBar(Part, frozen=True, kw_only=True):
    """The causes for which one sick GPU is enough, and how well the others must look.

    An empty list is none: the whole node is excluded, as without this rung.
    """

    causes: tuple[str, ...] = ()
    others_below: float = 0.05

    def __post_init__(self) -> None:
        ratio(others_below=self.others_below)
        if "facility" in self.causes:
            raise ValueError("causes name facility, expected causes that one GPU can have")
