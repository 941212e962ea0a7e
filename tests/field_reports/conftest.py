"""The fake BMC and the fake equipment of the readers' own tests."""

from __future__ import annotations

from tests.exporter.facility.conftest import plant
from tests.exporter.redfish.conftest import bench, hands, secrets

__all__ = ["bench", "hands", "plant", "secrets"]
