"""How work is moved: which pods stay, what is prepared first, and how long anything may take."""

from __future__ import annotations

from enum import StrEnum

from remediation.policy.bounds.checks import Part, positive


class Snapshots(StrEnum):
    """Of whose volumes a snapshot is taken before work leaves."""

    NEVER = "never"
    ANNOTATED = "annotated"
    ALWAYS = "always"


class MigrationBar(Part, frozen=True, kw_only=True):
    """Which pods may be moved, and what is done before.

    A checkpoint or snapshot that was not made in its time is tried again after
    `again_seconds`, unless the failure lies within one of `urgent_horizons`: then
    work leaves without.  One that was made counts for `fresh_seconds`.
    """

    allow_empty_dir: bool = False
    allow_unmanaged: bool = False
    protected_namespaces: tuple[str, ...] = ("kube-system", "gpu-operator", "network-operator")
    job_labels: tuple[str, ...] = ()
    stuck_seconds: float = 120.0
    retry_seconds: float = 30.0
    checkpoint_seconds: float = 600.0
    volume_snapshots: Snapshots = Snapshots.ANNOTATED
    snapshot_class: str = ""
    snapshot_seconds: float = 1200.0
    fresh_seconds: float = 900.0
    again_seconds: float = 1800.0
    urgent_horizons: tuple[str, ...] = ("1h", "6h")

    def __post_init__(self) -> None:
        positive(stuck_seconds=self.stuck_seconds, retry_seconds=self.retry_seconds)
        positive(
            checkpoint_seconds=self.checkpoint_seconds,
            snapshot_seconds=self.snapshot_seconds,
            fresh_seconds=self.fresh_seconds,
            again_seconds=self.again_seconds,
        )
