"""One file that carries window and model state over a restart, written atomically.

The file says its version and the SHA-256 of what follows, so that a torn or
foreign file is refused as a whole and never half believed.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from exporter.forecast import drift as drifts
from exporter.forecast.drift import Drift
from exporter.readings import Departure, Gpu
from exporter.window.roster import Roster
from exporter.window.window import CHANNELS, Window, empty

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MAGIC = b"forewarn-window 1 "
FILE_NAME = "window.bin"
FILE_BYTES_LIMIT = 64 << 20
FUTURE_TOLERANCE_SECONDS = 60.0


class StoreRefused(Exception):
    """A saved window that must not be used: which file, what is wrong, what was expected."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the arrays mean; `model_digest` names the artefact whose state was saved."""

    node: str
    step_seconds: float
    saved_wall: float
    channels: tuple[str, ...]
    uuids: tuple[str, ...]
    known: tuple[tuple[str, str], ...]
    highest: int
    model_digest: str


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything that must outlive the process; `state` is [gpu, k], rows as the window's."""

    node: str
    step_seconds: float
    saved_wall: float
    window: Window
    roster: Roster
    model_digest: str
    state: NDArray[np.float32]
    drift: Drift = field(default_factory=drifts.unknown)


def save(path: Path, saved: Saved) -> None:
    """Replace the file at `path`; raises `OSError`, leaving the old file whole."""
    payload = _pack(saved)
    digest = hashlib.sha256(payload).hexdigest().encode()
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as out:
        out.write(MAGIC + digest + b"\n")
        out.write(payload)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(path)


def load(path: Path, *, node: str, wall: float) -> Saved | None:
    """Return what was saved, None where nothing was; raises `StoreRefused`."""
    blob = _read(path)
    if blob is None:
        return None
    header, departed, window, state, drift = _unpack(path, blob)
    if header.node != node:
        raise StoreRefused(f"{path}: written for node {header.node!r}, expected {node!r}")
    if header.saved_wall > wall + FUTURE_TOLERANCE_SECONDS:
        ahead = header.saved_wall - wall
        raise StoreRefused(f"{path}: saved {ahead:.0f} s in the future: the clock was set back")
    roster = Roster(tuple(Gpu(*pair) for pair in header.known), header.highest, departed)
    return Saved(
        node=node,
        step_seconds=header.step_seconds,
        saved_wall=header.saved_wall,
        window=window,
        roster=roster,
        model_digest=header.model_digest,
        state=state,
        drift=drift,
    )


def _pack(saved: Saved) -> bytes:
    header = Header(
        node=saved.node,
        step_seconds=saved.step_seconds,
        saved_wall=saved.saved_wall,
        channels=CHANNELS,
        uuids=saved.window.uuids,
        known=tuple((gpu.uuid, gpu.index) for gpu in saved.roster.known),
        highest=saved.roster.highest,
        model_digest=saved.model_digest,
    )
    buffer = io.BytesIO()
    np.savez(
        buffer,
        header=np.frombuffer(msgspec.json.encode(header), np.uint8),
        raw=saved.window.raw,
        before=saved.window.before,
        ages=saved.window.ages,
        walls=saved.window.walls,
        state=saved.state,
        drift=np.array([saved.drift.outside, saved.drift.seen]),
        departed=np.frombuffer(msgspec.json.encode(saved.roster.departed), np.uint8),
    )
    return buffer.getvalue()


def _read(path: Path) -> bytes | None:
    try:
        if path.stat().st_size > FILE_BYTES_LIMIT:
            raise StoreRefused(f"{path}: larger than {FILE_BYTES_LIMIT} bytes")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreRefused(f"{path}: cannot be read: {error.strerror}") from error


def _unpack(
    path: Path, blob: bytes
) -> tuple[Header, tuple[Departure, ...], Window, NDArray[np.float32], Drift]:
    line, _, payload = blob.partition(b"\n")
    if not line.startswith(MAGIC):
        raise StoreRefused(f"{path}: not a window of this version, expected {MAGIC.decode()!r}")
    if hashlib.sha256(payload).hexdigest().encode() != line[len(MAGIC) :]:
        raise StoreRefused(f"{path}: torn or changed, its checksum does not match")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            header = msgspec.json.decode(arrays["header"].tobytes(), type=Header)
            # An earlier version saved neither: then they are not known.
            left = arrays["departed"].tobytes() if "departed" in arrays else b"[]"
            departed = msgspec.json.decode(left, type=tuple[Departure, ...])
            before = arrays["before"]
            ages = arrays["ages"] if "ages" in arrays else np.full(before.shape, np.inf)
            window = _window(header, arrays["raw"], before, ages, arrays["walls"])
            state = arrays["state"].astype(np.float32)
            drift = _drift(arrays["drift"]) if "drift" in arrays else drifts.unknown()
    except (ValueError, KeyError, IndexError, zipfile.BadZipFile, msgspec.DecodeError) as error:
        raise StoreRefused(f"{path}: not readable as a window: {error}") from error
    if state.ndim != 2 or len(state) != len(window.uuids) or not np.isfinite(state).all():
        raise StoreRefused(f"{path}: model state of shape {state.shape} or not finite")
    return header, departed, window, state, drift


def _drift(averages: NDArray[np.float64]) -> Drift:
    outside, seen = averages
    if not ((outside >= 0) & (outside <= seen) & (seen <= 1)).all():
        raise ValueError("averages of drift leave [0, 1]")
    return Drift(outside, seen)


def _window(
    header: Header,
    raw: NDArray[np.float64],
    before: NDArray[np.float64],
    ages: NDArray[np.float64],
    walls: NDArray[np.float64],
) -> Window:
    """Place the saved columns by channel name: a channel added since then is NaN throughout."""
    window = empty(header.uuids, len(walls))
    shape = (len(walls), len(header.uuids), len(header.channels))
    if raw.shape != shape or before.shape != shape[1:] or ages.shape != shape[1:]:
        raise ValueError(f"arrays of shape {raw.shape} and {before.shape}, expected {shape}")
    for source, name in enumerate(header.channels):
        if name in CHANNELS:
            target = CHANNELS.index(name)
            window.raw[:, :, target] = raw[:, :, source]
            window.before[:, target] = before[:, source]
            window.ages[:, target] = ages[:, source]
    window.walls[:] = walls
    return window
