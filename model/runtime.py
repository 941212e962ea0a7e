"""Opens an artefact, refuses what breaks the contract, and runs it."""

from __future__ import annotations

import hashlib
import importlib
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from model import schema
from model.artefact import INPUTS, METADATA_KEY, OUTPUTS, ArtefactInfo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

ARTEFACT_BYTES_LIMIT = 64 << 20
_ORIGIN = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (/\S+:\d+ .*?\) )?")
PROBE_GPUS = (1, 2, 8)
"""A graph that was traced with a fixed number of GPUs answers for that number only."""

ROUNDING = 1e-5


class Refusal(StrEnum):
    """Why an artefact was refused; also the metric label."""

    RUNTIME = "runtime"
    """ONNX Runtime itself is missing, broken, or dies."""
    UNREADABLE = "unreadable"
    NOT_ONNX = "not_onnx"
    METADATA = "metadata"
    FINGERPRINT = "fingerprint"
    SHAPE = "shape"
    PROBE = "probe"


class ModelRefused(Exception):
    """An artefact that must not be used, with its `reason`."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Prediction:
    """One run's outputs; probabilities in [0, 1], shapes as in `model.artefact`."""

    node: NDArray[np.float32]
    cause: NDArray[np.float32]
    gpu: NDArray[np.float32]
    score: NDArray[np.float32]
    contribution: NDArray[np.float32]
    state: NDArray[np.float32]


class Predictor:
    """A loaded artefact: one thread, no disk access after loading."""

    def __init__(self, info: ArtefactInfo, digest: str, session: Any) -> None:
        self.info = info
        self.digest = digest
        self._session = session
        self._unseen = [info.names.index(name) for name in info.unseen]

    def initial_state(self, gpus: int) -> NDArray[np.float32]:
        """Return the cold state [gpus, k]."""
        return np.zeros((gpus, self.info.state_width), np.float32)

    def predict(self, window: NDArray[np.float32], state: NDArray[np.float32]) -> Prediction:
        """Run the graph once; `window` is [gpu, step, channel], `state` [gpu, k], both float32.

        Channels that training never saw are read as missing, as they were there.
        """
        if self._unseen:
            window = window.copy()
            window[:, :, self._unseen] = np.nan
        outputs = self._session.run(OUTPUTS, {"window": window, "state": state})
        return Prediction(*outputs)


def load(path: Path) -> Predictor:
    """Open the artefact at `path`; raises `ModelRefused` naming the first broken promise."""
    blob = _read(path)
    session = _open(blob, path)
    info = _metadata(session, path)
    _check_schema(info)
    _check_signature(session, info)
    predictor = Predictor(info, hashlib.sha256(blob).hexdigest()[:16], session)
    _probe(predictor)
    return predictor


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > ARTEFACT_BYTES_LIMIT:
            raise ModelRefused(
                Refusal.UNREADABLE, f"{path}: {size} bytes, expected at most {ARTEFACT_BYTES_LIMIT}"
            )
        return path.read_bytes()
    except OSError as error:
        raise ModelRefused(Refusal.UNREADABLE, f"{path}: {error.strerror}") from error


def _onnxruntime() -> tuple[Any, Any]:
    """Return the runtime's module and the options of a session on a node."""
    # Imported here and not above: without it there is no prediction, and all else goes on.
    try:
        ort = importlib.import_module("onnxruntime")
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        for pool in ("intra_op", "inter_op"):
            options.add_session_config_entry(f"session.{pool}.allow_spinning", "0")
        options.log_severity_level = 4
    except Exception as error:
        said = next(iter(str(error).splitlines()), "")[:200]
        raise ModelRefused(
            Refusal.RUNTIME, f"onnxruntime cannot be used: {type(error).__name__}: {said}"
        ) from error
    return ort, options


def _open(blob: bytes, path: Path) -> Any:
    # From bytes on purpose: external data files cannot be reached, so an
    # artefact that is not whole in one file is refused here.
    ort, options = _onnxruntime()
    try:
        return ort.InferenceSession(blob, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelRefused(Refusal.NOT_ONNX, f"{path}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Return what the runtime says, without the place in its sources where it says it.

    Its errors share no base class: whoever calls it catches all, and refuses the model.
    """
    line = next(iter(str(error).splitlines()), type(error).__name__)
    return _ORIGIN.sub("", line)[:300]


def _metadata(session: Any, path: Path) -> ArtefactInfo:
    text = session.get_modelmeta().custom_metadata_map.get(METADATA_KEY)
    if text is None:
        raise ModelRefused(
            Refusal.METADATA, f"{path}: no {METADATA_KEY!r} metadata, expected a Forewarn artefact"
        )
    try:
        return msgspec.json.decode(text, type=ArtefactInfo)
    except msgspec.DecodeError as error:
        raise ModelRefused(Refusal.METADATA, f"{path}: {error}") from error


def _check_schema(info: ArtefactInfo) -> None:
    known = {row.name for row in schema.ON_A_NODE}
    unknown = [name for name in info.names if name not in known]
    if unknown:
        raise ModelRefused(Refusal.FINGERPRINT, f"unknown channels {unknown}")
    expected = schema.fingerprint(info.names)
    if info.schema_version != schema.SCHEMA_VERSION or info.schema_fingerprint != expected:
        raise ModelRefused(
            Refusal.FINGERPRINT, f"{info.schema_fingerprint}, expected {expected}: train again"
        )
    if len(set(info.names)) != len(info.names):
        raise ModelRefused(Refusal.METADATA, "a channel is listed twice")
    for channel in info.channels:
        unit = schema.BY_NAME[channel.name].unit
        if channel.unit != unit:
            raise ModelRefused(
                Refusal.METADATA, f"{channel.name} in {channel.unit!r}, expected {unit!r}"
            )
    if info.horizons != tuple(schema.HORIZONS) or info.causes != tuple(schema.Cause):
        raise ModelRefused(Refusal.METADATA, "horizons or causes differ from the schema's")
    _check_numbers(info)


def _check_numbers(info: ArtefactInfo) -> None:
    for name, (low, high) in info.training_ranges.items():
        if name not in info.names or not low <= high:
            raise ModelRefused(Refusal.METADATA, f"training range of {name} is [{low}, {high}]")
    for name in info.unseen:
        if name not in info.names or name in info.required or name in info.training_ranges:
            raise ModelRefused(
                Refusal.METADATA, f"{name} is unseen, expected an optional channel without a range"
            )
    rates = info.base_rate.per_node_week if info.base_rate is not None else {}
    for cause, rate in rates.items():
        if cause not in info.causes or not 0.0 < rate < math.inf:
            raise ModelRefused(Refusal.METADATA, f"base rate of {cause} is {rate} per node-week")


def _check_signature(session: Any, info: ArtefactInfo) -> None:
    inputs = {item.name: item for item in session.get_inputs()}
    outputs = {item.name for item in session.get_outputs()}
    if set(inputs) != set(INPUTS) or outputs != set(OUTPUTS):
        raise ModelRefused(Refusal.SHAPE, f"inputs {sorted(inputs)}, outputs {sorted(outputs)}")
    fixed = {"window": [info.window_steps, len(info.channels)], "state": [info.state_width]}
    for name, expected in fixed.items():
        kind, shape = inputs[name].type, list(inputs[name].shape)
        free = bool(shape) and not isinstance(shape[0], int)
        if kind != "tensor(float)" or not free or shape[1:] != expected:
            raise ModelRefused(
                Refusal.SHAPE,
                f"{name} is {kind}{shape}, expected tensor(float)['gpu', "
                f"{', '.join(map(str, expected))}] with a free first axis",
            )


def _probe(predictor: Predictor) -> None:
    """Run hard windows on several numbers of GPUs: finite, ordered probabilities every time."""
    for gpus in PROBE_GPUS:
        for window in _probe_windows(predictor.info, gpus):
            try:
                outcome = predictor.predict(window, predictor.initial_state(gpus))
            except Exception as error:
                raise ModelRefused(Refusal.PROBE, f"{gpus} GPUs: {_reason(error)}") from error
            _check_outcome(outcome, predictor.info, gpus)


def _probe_windows(info: ArtefactInfo, gpus: int) -> Iterator[NDArray[np.float32]]:
    """Nothing read, all zeros, one GPU lost, and both ends of what is physically possible."""
    shape = (gpus, info.window_steps, len(info.channels))
    yield np.full(shape, np.nan, np.float32)
    yield np.zeros(shape, np.float32)
    lost = np.zeros(shape, np.float32)
    lost[-1] = np.nan
    yield lost
    for end in ("low", "high"):
        extreme = [getattr(schema.BY_NAME[name], end) for name in info.names]
        yield np.broadcast_to(np.array(extreme, np.float32), shape).copy()


def _check_outcome(outcome: Prediction, info: ArtefactInfo, gpus: int) -> None:
    horizons = len(info.horizons)
    expected = {
        "node": (horizons,),
        "cause": (len(info.causes), horizons),
        "gpu": (gpus, horizons),
        "score": (gpus,),
        "contribution": (gpus, len(info.channels)),
        "state": (gpus, info.state_width),
    }
    for name, shape in expected.items():
        values = getattr(outcome, name)
        if values.shape != shape or not np.isfinite(values).all():
            raise ModelRefused(
                Refusal.PROBE,
                f"{name} has shape {values.shape} or non-finite values, expected {shape}",
            )
    for values in (outcome.node, outcome.cause, outcome.gpu):
        if values.min() < 0 or values.max() > 1 or (np.diff(values, axis=-1) < 0).any():
            raise ModelRefused(Refusal.PROBE, "probabilities leave [0, 1] or fall with the horizon")
    if outcome.contribution.min() < 0 or outcome.contribution.sum(-1).max() > 1 + ROUNDING:
        raise ModelRefused(Refusal.PROBE, "contributions are negative or sum to more than 1")
