"""Read history on disk: one file per node and half day, each put there in one instant.

A file that is there is whole, so a run that was killed reads on after the last
one.  The folder's name is a digest of what was asked of whom: another question,
server or tenant has another folder, and never mixes with this one.  `asked.json`
says in the folder what that was.

A file holds `names`, `start`, `seconds`, `gpu` float64 [gpu, step, channel],
`node` float64 [step, channel], `uuids`, `indices` [gpu], `changed` [step] and
`conflicts`.  One that holds nothing at all is written too, so that what was read
is known, but is asked for again by the next run: a tenant that is not ours, or a
store that is not up yet, answers that way.
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from model import schema
from model.history import files
from model.sources.dcgm_series import Told, unchanged
from model.sources.series import Cube, Steps, nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from model.history.access import Server
    from model.history.question import Address, Question
    from model.history.reader import Part, Reader

CHUNK_STEPS = 720
ASKED_NAME = "asked.json"


class Put(msgspec.Struct, frozen=True):
    """What was asked of whom, as it lies beside the answers; which nodes is not part of it."""

    url: str
    tenant: str
    family: str
    labels: tuple[str, ...]
    pattern: str
    match: dict[str, str]
    names: tuple[str, ...]

    def differs(self, other: Put) -> list[str]:
        """Return the flags by which another one was asked, in words; empty: by channels only."""
        flags = {
            "--prometheus": (self.url, other.url),
            "--tenant": (self.tenant, other.tenant),
            "--family": (self.family, other.family),
            "--node-label": (self.labels, other.labels),
            "--node-pattern": (self.pattern, other.pattern),
            "--match": (self.match, other.match),
        }
        return [flag for flag, (ours, theirs) in flags.items() if ours != theirs]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which channels, from when to when (wall-clock seconds, on the grid), asked how, of whom."""

    question: Question
    names: tuple[str, ...]
    start: int
    end: int
    server: Server

    def pieces(self) -> list[Steps]:
        """Return the range in parts whose borders do not depend on where it starts."""
        length = CHUNK_STEPS * schema.STEP_SECONDS
        first = self.start - self.start % length
        bounds = [
            (max(b, self.start), min(b + length, self.end)) for b in range(first, self.end, length)
        ]
        return [Steps(a, schema.STEP_SECONDS, (b - a) // schema.STEP_SECONDS) for a, b in bounds]

    @property
    def put(self) -> Put:
        """What decides the answers, besides time and node."""
        asked, server = self.question, self.server
        match = dict(sorted(asked.match.items()))
        return Put(
            server.url, server.tenant, asked.family, asked.labels, asked.pattern, match, self.names
        )

    @property
    def digest(self) -> str:
        """Name of the folder: what was asked of whom, not when."""
        return hashlib.sha256(msgspec.json.encode(self.put)).hexdigest()[:12]


class Chunks:
    """The files of one question under `folder`; `reader` fills what is missing."""

    def __init__(self, folder: Path, wanted: Wanted, reader: Reader) -> None:
        self.wanted = wanted
        self._folder = folder / wanted.digest
        self._reader = reader

    def fetch(
        self, node: str, addresses: Sequence[Address], report: Callable[[int, int], None]
    ) -> None:
        """Read what is not on disk yet; raises `HistoryUnreadable`."""
        self._begin()
        pieces = self.wanted.pieces()
        for done, over in enumerate(pieces):
            report(done, len(pieces))
            held = self._kept(node, over)
            if held is None or held.cube.empty:
                self.keep(node, over, self._ask(addresses, over))
        report(len(pieces), len(pieces))

    def load(self, node: str, first: int, last: int) -> Iterator[tuple[Steps, Told]]:
        """Yield what is known from `first` to before `last`, in order; all must be fetched."""
        for over in self.wanted.pieces():
            if over.start >= last or over.start + over.count * over.seconds <= first:
                continue
            told = self._kept(node, over)
            if told is None:
                raise FileNotFoundError(2, "not fetched", str(self._path(node, over)))
            cut = between(over, told, first, last)
            if cut is not None:
                yield cut

    def _begin(self) -> None:
        """Say what the folder holds, and why history of another question does not count."""
        path = self._folder / ASKED_NAME
        if path.exists():
            return
        if why := _why_anew(self._folder.parent, self.wanted.put):
            self._reader.say(f"{self._folder.parent}: {why}: all is asked anew")
        files.put(path, msgspec.json.format(msgspec.json.encode(self.wanted.put)) + b"\n")

    def _ask(self, addresses: Sequence[Address], over: Steps) -> Told:
        question, names = self.wanted.question, self.wanted.names
        parts = self._reader.read(lambda some: question.query(addresses, some), names, over)
        return _joined(question, names, over, parts)

    def _path(self, node: str, over: Steps) -> Path:
        return self._folder / node / f"{int(over.start)}-{over.count}.npz"

    def keep(self, node: str, over: Steps, told: Told) -> None:
        """Put a chunk on the disk."""
        cube = told.cube
        uuids = sorted(cube.gpu)
        shape = (0, over.count, len(self.wanted.names))
        write_arrays(
            self._path(node, over),
            {
                "names": np.array(self.wanted.names),
                "start": np.array(over.start),
                "seconds": np.array(over.seconds),
                "gpu": np.stack([cube.gpu[u] for u in uuids]) if uuids else np.empty(shape),
                "node": cube.node,
                "uuids": np.array(uuids, dtype=str),
                "indices": np.array([cube.index[u] for u in uuids], dtype=str),
                "changed": told.changed,
                "conflicts": np.array(cube.conflicts),
            },
        )

    def _kept(self, node: str, over: Steps) -> Told | None:
        """Return what is on disk; a file that a failing disk has damaged is read anew."""
        try:
            path = self._path(node, over)
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                uuids = [str(uuid) for uuid in held["uuids"]]
                gpu = dict(zip(uuids, held["gpu"], strict=True))
                index = dict(zip(uuids, map(str, held["indices"]), strict=True))
                cube = Cube(gpu, held["node"], index, int(held["conflicts"]))
                return Told(cube, held["changed"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None


def write_arrays(
    path: Path, arrays: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]
) -> None:
    """Put arrays at `path` (.npz) in one instant."""
    files.fill(path, lambda file: np.savez_compressed(file, allow_pickle=False, **arrays))


def _why_anew(folder: Path, wanted: Put) -> str:
    """Return why nothing of what lies in `folder` answers; empty where nothing is to be said."""
    others = [path for path in sorted(folder.glob("*")) if path.is_dir()]
    known = [one for one in map(_put_in, others) if one is not None]
    flags = [one.differs(wanted) for one in known]
    if not others or [] in flags:
        return ""
    if not flags:
        return "what lies there does not say of which server and tenant it is"
    nearest = min(flags, key=len)
    return f"what lies there was read with another {' and '.join(nearest)}"


def _put_in(folder: Path) -> Put | None:
    """Return what was asked for the files of a folder, None where that is not told."""
    try:
        return msgspec.json.decode((folder / ASKED_NAME).read_bytes(), type=Put)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _joined(question: Question, names: Sequence[str], over: Steps, parts: Iterator[Part]) -> Told:
    """Lay the answers, each of some channels and some steps, side by side."""
    whole = Told(Cube({}, nothing(over, names), {}), unchanged(over))
    conflicts = 0
    for part in parts:
        told = question.decode(part.series, part.over, part.names)
        conflicts += told.cube.conflicts
        first = round((part.over.start - over.start) / over.seconds)
        rows = slice(first, first + part.over.count)
        columns = [names.index(name) for name in part.names]
        whole.cube.node[rows, columns] = told.cube.node
        whole.changed[rows] |= told.changed
        for uuid, found in told.cube.gpu.items():
            whole.cube.index[uuid] = told.cube.index[uuid]
            whole.cube.gpu.setdefault(uuid, nothing(over, names))[rows, columns] = found
    return replace(whole, cube=replace(whole.cube, conflicts=conflicts))


def between(over: Steps, told: Told, first: int, last: int) -> tuple[Steps, Told] | None:
    """Cut a chunk to the steps from `first` to before `last` (wall-clock seconds)."""
    begin = max(0, round((first - over.start) / over.seconds))
    end = min(over.count, round((last - over.start) / over.seconds))
    if begin >= end:
        return None
    cut = slice(begin, end)
    cube = told.cube
    gpu = {uuid: found[cut] for uuid, found in cube.gpu.items()}
    steps = replace(over, start=over.start + begin * over.seconds, count=end - begin)
    return steps, Told(Cube(gpu, cube.node[cut], cube.index, cube.conflicts), told.changed[cut])
