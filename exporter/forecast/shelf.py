"""Finds the artefact in force, picks up replacements, never gives up a good one for a bad one."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.lifecycle import FileWatch
from model import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from structlog.typing import FilteringBoundLogger

    from model.artefact import ArtefactInfo
    from model.runtime import Predictor, Refusal

    Trial = Callable[[Path], str | None]

BUNDLED = Path(runtime.__file__).parent / "bundled" / "fleet.onnx"


@dataclass(frozen=True, slots=True)
class InForce:
    """The artefact that predicts, and whether a better candidate was wanted but not usable."""

    predictor: Predictor
    path: Path
    fallback: bool


def own_candidates(directory: Path | None, node: str) -> list[Path]:
    """Return where a site's artefacts for `node` lie, the node's own first."""
    return [] if directory is None else [directory / f"{node}.onnx", directory / "fleet.onnx"]


def load(path: Path, trial: Trial) -> Predictor:
    """Load what a process of its own survives; raises `ModelRefused`."""
    died = trial(path)
    if died is not None:
        detail = f"{path}: a process that loaded it {died}"
        raise runtime.ModelRefused(runtime.Refusal.RUNTIME, detail)
    return runtime.load(path)


def first(
    directory: Path | None, node: str, trial: Trial, bundled: Path = BUNDLED
) -> tuple[Path, ArtefactInfo] | None:
    """Return the artefact that would come into force at a start, and what it says of itself."""
    for path in (*own_candidates(directory, node), bundled):
        if path.exists():
            with suppress(runtime.ModelRefused):
                return path, load(path, trial).info
    return None


def troubles(directory: Path | None, node: str, trial: Trial) -> list[str]:
    """Return a line for what of a site's models could not come into force on `node`."""
    if directory is None:
        return []
    if not directory.is_dir():
        why = "not a folder" if directory.exists() else "no such folder"
        return [f"{directory}: {why}, expected one with {node}.onnx or fleet.onnx"]
    if not os.access(directory, os.R_OK | os.X_OK):
        return [f"{directory}: the folder cannot be read"]
    found = []
    for path in own_candidates(directory, node):
        if path.exists():
            try:
                load(path, trial)
            except runtime.ModelRefused as refusal:
                found.append(str(refusal))
    return found


def untried(path: Path) -> str | None:  # noqa: ARG001 - says of every file the same
    """Let every artefact be loaded without a trial."""
    return None


class ModelShelf:
    """Candidates in order of preference: the node's own, the fleet's, the one in the image.

    `trial` is asked before an artefact is loaded, and says how loading it would end this
    process, if it would.
    """

    def __init__(
        self,
        directory: Path | None,
        node: str,
        *,
        node_expected: bool,
        log: FilteringBoundLogger,
        bundled: Path = BUNDLED,
        trial: Trial = untried,
    ) -> None:
        own = own_candidates(directory, node)
        self._directory = directory
        self._absent = False
        self._candidates = (*own, bundled)
        self._own = own[:1]
        self._node_expected = node_expected
        self._log = log
        self._trial = trial
        self._watch: FileWatch | None = None
        self._refused: dict[Path, str] = {}
        self.in_force: InForce | None = None
        self.refusals: Counter[Refusal] = Counter(dict.fromkeys(runtime.Refusal, 0))

    @property
    def reload_success(self) -> bool:
        """Whether the last look at the files met no refusal."""
        return not self._refused

    @property
    def refused(self) -> Mapping[Path, str]:
        """What is on the shelf and may not be used, with the reason."""
        return self._refused

    def look(self, *, again: bool = False) -> bool:
        """Look for changed files; return True when another artefact came into force.

        A refused file is tried again only when it changes, or when asked `again`.
        """
        again = self._look_for_directory() or again
        if self._watch is None:
            self._watch = FileWatch(self._candidates)
        elif not self._watch.changed() and not again:
            return False
        before = self.in_force
        self._refused = {}
        self.in_force = self._choose(before)
        changed = self._digest(before) != self._digest(self.in_force)
        if changed:
            self._announce()
        return changed

    def _look_for_directory(self) -> bool:
        """Tell whether the folder came or went; where it is not there, that is said once."""
        before = self._absent
        self._absent = self._directory is not None and not self._directory.is_dir()
        if self._absent and not before:
            self._log.warning("no such folder of models", path=str(self._directory))
        return self._absent is not before

    def _choose(self, before: InForce | None) -> InForce | None:
        for path in self._candidates:
            if not path.exists():
                continue
            try:
                predictor = load(path, self._trial)
            except runtime.ModelRefused as refusal:
                self._refuse(path, refusal)
                if before is not None and before.path == path:
                    return before
                continue
            return InForce(predictor, path, fallback=self._is_fallback(path))
        return before

    def _is_fallback(self, path: Path) -> bool:
        if path in self._own:
            return False
        refused = any(own in self._refused for own in self._own)
        return self._node_expected or self._absent or refused

    def _refuse(self, path: Path, refusal: runtime.ModelRefused) -> None:
        self._refused[path] = str(refusal)
        self.refusals[refusal.reason] += 1
        self._log.error(
            "model refused", path=str(path), reason=refusal.reason, detail=refusal.detail
        )

    def _announce(self) -> None:
        if self.in_force is None:
            return
        info = self.in_force.predictor.info
        self._log.info(
            "model in force",
            path=str(self.in_force.path),
            version=info.version,
            provenance=info.provenance,
            fallback=self.in_force.fallback,
        )

    @staticmethod
    def _digest(in_force: InForce | None) -> str:
        return "" if in_force is None else in_force.predictor.digest
