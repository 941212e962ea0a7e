"""Which equipment is read, which racks it serves, and which nodes stand in them."""

from __future__ import annotations

from msgspec import field

from daemon.settings import Section
from exporter.facility.hostlist import expand
from exporter.redfish.settings import EndpointSettings
from exporter.settings import Breaker, Listen, LogSettings


class Target(EndpointSettings, frozen=True):
    """One Redfish service of the facility and the racks that it cools or feeds."""

    equipment: str = ""
    racks: tuple[str, ...] = ()
    requests_per_cycle: int = 8
    """Flows, temperatures, leaks and powers are read each cycle, parts in turn within this."""
    slow_cycles: int = 20
    """Everything has its turn within so many cycles, at the cost of more requests if need be."""

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        super().__post_init__()
        if not self.equipment:
            raise ValueError("expected equipment, the name of this piece on the page")
        if not self.url:
            raise ValueError(f"{self.equipment}: expected url as https://<address>")


class FacilitySettings(Section, frozen=True):
    """One facility exporter; `racks` maps the value of a node's rack label to its nodes."""

    listen: Listen = Listen()
    targets: tuple[Target, ...] = ()
    racks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    breaker: Breaker = Breaker()
    log: LogSettings = LogSettings()

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        names = [target.equipment for target in self.targets]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"targets: expected each equipment once, not {name!r} twice")
        for target in self.targets:
            self._check_racks(target)
        self.rack_of()

    def _check_racks(self, target: Target) -> None:
        """Raise `ValueError` for a rack that `racks` does not define: nobody would ever read it."""
        for rack in target.racks:
            if rack not in self.racks:
                known = f"one of {', '.join(sorted(self.racks))}" if self.racks else "no rack"
                raise ValueError(
                    f"targets: {target.equipment}: rack {rack!r} is not defined, expected {known} "
                    f"or a key {rack!r} in `racks` with its nodes"
                )

    def rack_of(self) -> dict[str, str]:
        """Return node → rack; raises `ValueError` for a node in two racks."""
        found: dict[str, str] = {}
        for rack, lists in self.racks.items():
            try:
                nodes = [name for text in lists for name in expand(text)]
            except ValueError as error:
                raise ValueError(f"racks: {rack}: {error}") from error
            for node in nodes:
                if found.setdefault(node, rack) != rack:
                    raise ValueError(f"racks: {node} is in {found[node]!r} and in {rack!r}")
        return found
