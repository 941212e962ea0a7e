"""What one training of a site consists of, fixed before it begins.

Written once as `plan.json`; whoever goes on with the training, at another time
or in another pod, reads the same nodes, the same time span and the same seed.
"""

from __future__ import annotations

import difflib
import hashlib
import random
from functools import partial
from math import isfinite
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from daemon.prometheus import HistoryUnreadable, Trouble
from model.history.access import Server
from model.history.question import TYPE_LABELS, WITNESS, Address, Found, Question
from model.history.refused import PlanRefused
from model.schema import STEP_SECONDS
from model.sources.series import Steps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from daemon.prometheus import Series
    from model.history.reader import Reader

FILE_NAME, INCIDENTS_NAME = "plan.json", "incidents.csv"
LOOK_SECONDS = 6 * 3_600
UNNAMED = "not named"


class PlannedNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A node, the labels by which it is found, and its types of GPU."""

    name: str
    addresses: tuple[Address, ...]
    types: tuple[str, ...]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One training; times in wall-clock seconds on the grid.

    `fleet` are the nodes that the fleet's model is trained on; `simulate` is how
    much simulated failure goes with it ("none" for none), `schedule` how long is
    trained ("tiny" shows that everything works, and is worth nothing).
    """

    server: Server
    question: Question
    start: int
    end: int
    nodes: tuple[PlannedNode, ...]
    fleet: tuple[str, ...]
    shards: int
    seed: int
    simulate: str
    schedule: str = "full"
    incidents: str = ""
    """Digest of the list of incidents, empty without one."""

    @property
    def digest(self) -> str:
        """Of all that decides the models: not of the server's address, nor of the sharing out."""
        fixed = (
            self.server.tenant,
            self.question,
            self.start,
            self.end,
            self.nodes,
            self.fleet,
            self.seed,
            self.simulate,
            self.schedule,
            self.incidents,
        )
        return hashlib.sha256(msgspec.json.encode(fixed)).hexdigest()[:12]

    def node(self, name: str) -> PlannedNode:
        """Return a node of the plan."""
        return next(one for one in self.nodes if one.name == name)

    def shard(self, index: int) -> tuple[PlannedNode, ...]:
        """Return the nodes of one share, from 0; raises `PlanRefused`."""
        if not 0 <= index < self.shards:
            raise PlanRefused(f"shard {index}: expected 0 to {self.shards - 1}")
        return self.nodes[index :: self.shards]

    @property
    def types(self) -> dict[str, int]:
        """How many nodes have each type of GPU."""
        kinds: dict[str, int] = {}
        for node in self.nodes:
            for kind in node.types or (UNNAMED,):
                kinds[kind] = kinds.get(kind, 0) + 1
        return dict(sorted(kinds.items()))


def encode(plan: Plan) -> bytes:
    """Return the plan as JSON for people and programs."""
    return msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n"


def decode(content: bytes, origin: str) -> Plan:
    """Read a plan; raises `PlanRefused`."""
    try:
        return msgspec.json.decode(content, type=Plan)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise PlanRefused(f"{origin}: not a plan: {error}") from error


def digest(content: bytes) -> str:
    """Return the digest of a list of incidents."""
    return hashlib.sha256(content).hexdigest()[:12] if content else ""


def discover(reader: Reader, question: Question, start: int, end: int) -> list[Found]:
    """Find the site's nodes; raises `HistoryUnreadable` or `PlanRefused` with what was found."""
    addresses: dict[str, dict[Address, None]] = {}
    types: dict[str, set[str]] = {}
    counts: dict[str, list[float]] = {}
    seen: set[str] = set()
    over = Steps(start, LOOK_SECONDS, max(1, (end - start) // LOOK_SECONDS + 1))
    for label, one in _listed(reader.apart(), question, over):
        value = one.metric.get(label, "")
        if not value:
            continue
        seen.add(value)
        name = question.name_of(value)
        if name is None:
            continue
        addresses.setdefault(name, {})[Address(label, value)] = None
        kind = next((one.metric[k] for k in TYPE_LABELS if one.metric.get(k)), "")
        types.setdefault(name, set()).update({kind} - {""})
        counted = (float(count) for _, count in one.values)
        counts.setdefault(name, []).extend(filter(isfinite, counted))
    if not addresses:
        raise _nothing(question, seen)
    return [
        Found(
            name,
            tuple(addresses[name]),
            tuple(sorted(types.get(name, ()))),
            # Two exporters of one node count its GPUs twice, for a while.
            round(median(counts[name] or [0.0])),
        )
        for name in sorted(addresses)
    ]


def _listed(reader: Reader, question: Question, over: Steps) -> Iterator[tuple[str, Series]]:
    """Yield what the server lists for each label, in as many questions as its limits take."""
    for label in question.labels:
        for part in reader.read(partial(_finding, question), (label,), over):
            yield from ((label, one) for one in part.series)


def _finding(question: Question, labels: Sequence[str]) -> str:
    return question.finding(labels[0])


def choose(
    found: Sequence[Found], many: int, seed: int, struck: Collection[str]
) -> tuple[str, ...]:
    """Choose the nodes of the fleet's training: struck ones first, then evenly over the kinds.

    A kind is the types of GPU, and their number: a model is doubted on nodes of a size that
    it never saw.
    """
    by_kind: dict[tuple[tuple[str, ...], int], list[str]] = {}
    for one in found:
        by_kind.setdefault((one.types, one.gpus), []).append(one.name)
    order = random.Random(seed)  # noqa: S311 - a choice that can be repeated
    queues = [order.sample(names, len(names)) for _, names in sorted(by_kind.items())]
    chosen = [one.name for one in found if one.name in struck][:many]
    while len(chosen) < many and any(queues):
        for queue in queues:
            if queue and len(chosen) < many and (name := queue.pop()) not in chosen:
                chosen.append(name)
    return tuple(sorted(chosen))


def grid(seconds: float) -> int:
    """Return the last grid step at or before a time."""
    return int(seconds // STEP_SECONDS) * STEP_SECONDS


def _nothing(question: Question, seen: Collection[str]) -> HistoryUnreadable | PlanRefused:
    family, labels = WITNESS[question.family], " or ".join(question.labels)
    if not seen:
        detail = (
            f"no series of {family} with a label {labels} in this time"
            f"{_with(question.match)}: is it the right server, and the right --family?"
        )
        return HistoryUnreadable(Trouble.REFUSED, detail)
    near = difflib.get_close_matches(question.nodes, list(seen), 3, 0.3) or sorted(seen)[:3]
    return PlanRefused(
        f"{len(seen)} values of {labels}, none of which is a node by --node-pattern "
        f"{question.pattern!r} and --nodes {question.nodes!r}; for example {', '.join(near)}"
    )


def _with(match: Mapping[str, str]) -> str:
    return " and " + ", ".join(f"{k}={v}" for k, v in match.items()) if match else ""
