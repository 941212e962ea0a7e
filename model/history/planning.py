"""Makes a plan, or goes on with the one that lies there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from model.history import incidents as listing
from model.history.files import put
from model.history.plan import (
    FILE_NAME,
    INCIDENTS_NAME,
    Plan,
    PlannedNode,
    choose,
    decode,
    digest,
    discover,
    encode,
)
from model.history.refused import PlanRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from model.history.access import Server
    from model.history.arguments import Asked
    from model.history.reader import Reader

WAIT_SECONDS = 10.0
BYTES_PER_NODE_DAY = 0.95e6
"""On disk, an 8-GPU node with every channel (docs/training.md)."""


class Decided(NamedTuple):
    """What is asked of the training itself."""

    seed: int
    simulate: str
    schedule: str


def make(
    reader: Reader, asked: Asked, decided: Decided, *, shards: int, fleet: int
) -> tuple[Plan, list[str]]:
    """Look at the site; return a plan, and a line for each incident on a node that is not there."""
    found = discover(reader, asked.question, asked.start, asked.end)
    names = {one.name for one in found}
    struck = {row.node for row in asked.rows} & names
    made = Plan(
        server=asked.server,
        question=asked.question,
        start=asked.start,
        end=asked.end,
        nodes=tuple(PlannedNode(one.name, one.addresses, one.types) for one in found),
        fleet=choose(found, min(fleet, len(found)), decided.seed, struck),
        shards=max(1, shards),
        seed=decided.seed,
        simulate=decided.simulate,
        schedule=decided.schedule,
        incidents=digest(asked.incidents),
    )
    return made, listing.unknown(asked.rows, names)


def write(work: Path, made: Plan, incidents: bytes) -> None:
    """Put the plan and the list that it was made with into `work`; the plan last."""
    if incidents:
        put(work / INCIDENTS_NAME, incidents)
    put(work / FILE_NAME, encode(made))


def find(work: Path) -> Plan | None:
    """Return the plan in `work`, None where there is none; raises `PlanRefused`."""
    path = work / FILE_NAME
    try:
        return decode(path.read_bytes(), str(path))
    except FileNotFoundError:
        return None


def load(work: Path) -> Plan:
    """Return the plan in `work`; raises `PlanRefused`, also where there is none."""
    known = find(work)
    if known is None:
        raise PlanRefused(f"{work / FILE_NAME}: no such file; `forewarn-model plan` makes one")
    return known


def wait(
    there: Callable[[], bool], limit_seconds: float, rest: Callable[[float], object], what: str
) -> None:
    """Return once something is there; raises `PlanRefused` after the limit.

    Pods of a site's training start together, and one makes what the others need.
    """
    waited = 0.0
    while not there():
        if waited >= limit_seconds:
            raise PlanRefused(
                f"no {what} after {waited:.0f} s; `forewarn-model train --only fleet` makes it"
            )
        rest(WAIT_SECONDS)
        waited += WAIT_SECONDS


def at(known: Plan, server: Server) -> Plan:
    """Return the plan with another way to the same data."""
    return msgspec.structs.replace(known, server=server)


def agrees(known: Plan, asked: Asked, *, until: bool) -> None:
    """Raise `PlanRefused` where the plan that lies there is of something else than is asked.

    Without a given end of time the plan's own holds: to go on later is to go on
    with the same data.
    """
    pairs: dict[str, tuple[object, object]] = {
        "another question": (known.question, asked.question),
        "another --tenant": (known.server.tenant, asked.server.tenant),
        "another list of --incidents": (known.incidents, digest(asked.incidents)),
        "another number of --days": (known.end - known.start, asked.end - asked.start),
    }
    if until:
        pairs["another --until"] = (known.end, asked.end)
    _same(pairs)


def holds(known: Plan, said: Mapping[str, object], fleet_nodes: int | None = None) -> None:
    """Raise `PlanRefused` where what is said of the training (not None) is not in the plan."""
    pairs: dict[str, tuple[object, object]] = {
        f"another --{name}": (getattr(known, name), value)
        for name, value in said.items()
        if value is not None
    }
    if fleet_nodes is not None:
        pairs["another --fleet-nodes"] = (len(known.fleet), min(fleet_nodes, len(known.nodes)))
    _same(pairs)


def _same(pairs: Mapping[str, tuple[object, object]]) -> None:
    differs = [name for name, (there, here) in pairs.items() if there != here]
    if differs:
        raise PlanRefused(
            f"the plan in --work is of {' and '.join(differs)}: give another --work, or plan anew"
        )


def describe(made: Plan, work: Path) -> str:
    """Return the plan for a person."""
    days = (made.end - made.start) / 86_400
    share = -(-len(made.nodes) // made.shards)
    kinds = ", ".join(f"{count} with {kind}" for kind, count in made.types.items())
    size = BYTES_PER_NODE_DAY * days * len(made.nodes) / 1e9
    return "\n".join(
        (
            f"{len(made.nodes)} nodes ({kinds}), {days:g} days",
            f"fleet model from {len(made.fleet)} of them; "
            f"{made.shards} shards of up to {share} nodes",
            f"history on disk: about {size:.1f} GB under {work / 'history'}",
            f"wrote {work / FILE_NAME}",
        )
    )
