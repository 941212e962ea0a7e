"""What a node learns of its rack: one bounded GET of the facility exporter's page per cycle."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import requests
import urllib3

from daemon import reach
from daemon.secrets import SecretUnreadable
from exporter.dcgm import text
from exporter.readings import Missing, Place, Reason, SourceFailed, SourceName, SourceReadings
from exporter.redfish.interpret import combine
from model import schema
from model.sources import facility as spell
from model.sources.facility import RACK, RACK_TERMS, Equipment
from model.sources.redfish import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from exporter.settings import RackSettings

BODY_LIMIT_BYTES = 16 << 20
CHUNK_BYTES = 64 << 10
PREFIX = "forewarn_facility_"
STATUS_REASONS = {401: Reason.UNAUTHORIZED, 403: Reason.FORBIDDEN, 404: Reason.NOT_FOUND}


class RackSource:
    """The rack of this node on the facility exporter's page."""

    name = SourceName.FACILITY

    def __init__(
        self,
        settings: RackSettings,
        session: requests.Session,
        *,
        node: str,
        monotonic: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._session = session
        self._node = node
        self._monotonic = monotonic

    def read(self, now: float) -> SourceReadings:  # noqa: ARG002 - nothing here depends on it
        """Ask once; raises `SourceFailed`, also where the page knows no rack of this node."""
        page = text.read(self._get(), lambda name: name.startswith(PREFIX))
        if not page.samples:
            raise SourceFailed(Reason.NO_SAMPLES, f"{self._settings.url}: no facility metrics")
        rack = self._settings.rack or rack_of(page.samples, self._node)
        if not rack:
            raise SourceFailed(
                Reason.NO_RESOURCE,
                f"{self._settings.url}: no rack holds node {self._node}; "
                "list it under `racks` of the facility exporter, or set facility.rack",
            )
        values, missing = judge(page.samples, rack)
        errors = {Reason.BAD_LINE: page.bad_lines} if page.bad_lines else {}
        return SourceReadings(self.name, values, missing, errors=errors, strategy="page")

    def close(self) -> None:
        """Drop the connection."""
        self._session.close()

    def _get(self) -> bytes:
        url, deadline = self._settings.url, self._monotonic() + self._settings.deadline_seconds
        try:
            with self._session.get(
                url,
                headers=self._authorization(),
                timeout=self._settings.deadline_seconds,
                verify=self._settings.ca_file or True,
                stream=True,
                allow_redirects=False,
            ) as response:
                if response.status_code != 200:
                    reason = STATUS_REASONS.get(response.status_code, Reason.HTTP_OTHER)
                    raise SourceFailed(reason, f"{url}: status {response.status_code}")
                return self._body(response, deadline)
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise SourceFailed(Reason.TIMEOUT, f"{url}: no answer in time") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            reason = Reason.TLS if reach.is_tls(error) else Reason.UNREACHABLE
            detail = f"{url}: {reach.plainly(error)}, expected the page of the facility exporter"
            raise SourceFailed(reason, detail) from error

    def _body(self, response: requests.Response, deadline: float) -> bytes:
        body = bytearray()
        while part := response.raw.read1(CHUNK_BYTES, decode_content=True):
            body += part
            if len(body) > BODY_LIMIT_BYTES:
                raise SourceFailed(
                    Reason.TOO_LARGE, f"{self._settings.url}: over {BODY_LIMIT_BYTES} bytes"
                )
            if self._monotonic() > deadline:
                raise SourceFailed(
                    Reason.TIMEOUT, f"{self._settings.url}: the page came too slowly"
                )
        return bytes(body)

    def _authorization(self) -> dict[str, str]:
        token = self._settings.token
        if token is None:
            return {}
        try:
            return {"Authorization": f"Bearer {token.read()}"}
        except SecretUnreadable as error:
            raise SourceFailed(Reason.SECRET_UNREADABLE, str(error)) from error


def rack_of(samples: Iterable[text.Sample], node: str) -> str:
    """Return the rack that the page says this node stands in, or an empty string."""
    for sample in samples:
        if sample.name == PREFIX + "rack_info" and sample.labels.get("node") == node:
            return sample.labels.get("rack", "")
    return ""


def judge(
    samples: Iterable[text.Sample], rack: str
) -> tuple[dict[Place, float], dict[Place, Missing]]:
    """Return the rack's channels as one value each, the worst of its equipment, or why not."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    kinds: dict[str, Equipment] = {}
    silent = False
    for sample in samples:
        if sample.labels.get("rack") != rack or sample.value is None:
            continue
        name, equipment = sample.name.removeprefix(PREFIX), sample.labels.get("equipment", "")
        if name == "equipment_info" and sample.labels.get("kind") in set(Equipment):
            kinds[equipment] = Equipment(sample.labels["kind"])
        elif name == "source_up":
            silent |= sample.value == 0
        else:
            found[name][equipment] = float(sample.value)
    values: dict[Place, float] = {}
    missing: dict[Place, Missing] = {}
    for channel, term in RACK_TERMS.items():
        value = _channel(channel, term, found, kinds, silent=silent)
        place = Place(RACK + channel)
        if isinstance(value, Missing):
            missing[place] = value
        elif schema.BY_NAME[place.channel].plausible(value):
            values[place] = value
        else:
            missing[place] = Missing.OUT_OF_RANGE
    return values, missing


def _channel(
    channel: str,
    term: spell.RackTerm,
    found: Mapping[str, Mapping[str, float]],
    kinds: Mapping[str, Equipment],
    *,
    silent: bool,
) -> float | Missing:
    for source in term.sources:
        known = [v for e, v in found.get(source, {}).items() if kinds.get(e) in term.kinds]
        if not known:
            continue
        # A sum without one of its parts, or a dry leak while a detector is silent, is no reading.
        doubt = silent or (channel == spell.LEAK and any(found.get(spell.LEAK_FAULTS, {}).values()))
        lacking = [Missing.UNREADABLE] if doubt and term.rule in {Rule.ANY, Rule.SUM} else []
        return combine(term.rule, known, lacking)
    if channel == spell.LEAK and any(found.get(spell.LEAK_FAULTS, {}).values()):
        return Missing.UNREADABLE
    return Missing.SOURCE_DOWN if silent else Missing.ABSENT_FAMILY
