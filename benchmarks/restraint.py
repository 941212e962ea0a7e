"""How much remediation may do while it is measured."""

from __future__ import annotations

from typing import Any

LIFTED: dict[str, Any] = {
    "concurrency": 100_000,
    "domains": [],
    "waves": 100_000,
    "namespace_waves": 100_000,
    "predicted_nodes": 100_000,
    "unavailable_nodes": 100_000,
    "unavailable_percent": 100,
    "token_burst": 100_000,
    "breaker_grants": 100_000,
    "suspects": 100_000,
}
"""Limits that limit nothing: what is measured is the hands, not their restraint."""
SHIPPED: dict[str, Any] = {
    "concurrency": 2,
    "domains": [{"label": "topology.kubernetes.io/rack", "concurrency": 1}],
    "waves": 1,
    "namespace_waves": 1,
    "predicted_nodes": 3,
    "unavailable_nodes": 5,
    "unavailable_percent": 10,
    "token_burst": 2,
    "breaker_grants": 3,
    "suspects": 2000,
}
"""The shipped restraint again."""
