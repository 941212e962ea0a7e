"""Why not: every guard that can refuse, as a closed list that is also the metric label."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """The guard that refused."""

    OBSERVE_MODE = "observe_mode"
    RECORD_ONLY = "record_only"
    PAUSED = "paused"
    BREAKER_OPEN = "breaker_open"
    NO_TOKEN = "no_token"  # noqa: S105 - a budget token
    CONCURRENCY = "concurrency"
    DOMAIN_CONCURRENCY = "domain_concurrency"
    WAVES = "waves"
    NAMESPACE_WAVES = "namespace_waves"
    WAVE_TOO_LARGE = "wave_too_large"
    WAVE_INCOMPLETE = "wave_incomplete"
    WAVE_ELSEWHERE = "wave_elsewhere"
    WORK_TIED = "work_tied"
    JOB_COOLDOWN = "job_cooldown"
    CHECKPOINTS = "checkpoints"
    CHECKPOINT_PENDING = "checkpoint_pending"
    CHECKPOINT_FAILED = "checkpoint_failed"
    SNAPSHOTS = "snapshots"
    SNAPSHOT_PENDING = "snapshot_pending"
    SNAPSHOT_FAILED = "snapshot_failed"
    NO_CAPACITY = "no_capacity"
    VOLUMES_UNREADABLE = "volumes_unreadable"
    ONE_AT_A_TIME = "one_at_a_time"
    NODE_COOLDOWN = "node_cooldown"
    FLAPPING = "flapping"
    MODEL_FAULT = "model_fault"
    FACILITY_EVENT = "facility_event"
    DISTRESS = "distress"
    WINDOW_CLOSED = "window_closed"
    POOL_SHARE = "pool_share"
    POOL_EMPTY = "pool_empty"
    ELEVATED_SHARE = "elevated_share"
    UNKNOWN_NODE = "unknown_node"
    UID_CHANGED = "uid_changed"
    MARK_UNREADABLE = "mark_unreadable"
    SUPERSEDED = "superseded"
    FOREIGN_CORDON = "foreign_cordon"
    OTHER_DRAINER = "other_drainer"
    OTHER_DRAINER_STALE = "other_drainer_stale"
    NODE_LOST = "node_lost"
    HELD = "held"
    ALERTS_UNREADABLE = "alerts_unreadable"
    NOT_FIRING = "not_firing"
    SILENCED = "silenced"
    PREDICTION_UNREADABLE = "prediction_unreadable"
    PREDICTION_ABSENT = "prediction_absent"
    PREDICTION_STALE = "prediction_stale"
    PREDICTION_NOT_OK = "prediction_not_ok"
    MODEL_DOUBTED = "model_doubted"
    PROBABILITY_LOW = "probability_low"
    STILL_FIRING = "still_firing"
    PROBABILITY_HIGH = "probability_high"
    SOAKING = "soaking"
    RELEASE_INTERVAL = "release_interval"
    RELEASE_DOMAIN = "release_domain"
    ON_PROBATION = "on_probation"
    PODS_UNREADABLE = "pods_unreadable"
    PODS_ENDING = "pods_ending"
    POD_STUCK = "pod_stuck"
    POD_UNMANAGED = "pod_unmanaged"
    POD_HAS_LOCAL_DATA = "pod_has_local_data"
    POD_ASKS_TO_STAY = "pod_asks_to_stay"
    DISRUPTION_BUDGET = "disruption_budget"
    EVICTION_REFUSED = "eviction_refused"
    OWNER_MOVES = "owner_moves"
    NOT_ALLOWED = "not_allowed"
    NOT_GRANTED = "not_granted"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One guard's no, in words for people; the words hold no value that changes each tick."""

    reason: Reason
    words: str
