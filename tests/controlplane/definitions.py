"""Custom resources as their own projects define them, from the files beside the programs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import yaml
from kubernetes import client

from simulator.controlplane.plane import assets

if TYPE_CHECKING:
    from pathlib import Path

CONFLICT = 409
SERVED_SECONDS = 30.0


def define(api: client.ApiClient, name: str) -> None:
    """Apply the definitions of one folder and wait until they are served; twice is once.

    Raises `TimeoutError` when the API server does not come to serve them.
    """
    extensions = client.ApiextensionsV1Api(api)
    for path in files(name):
        document = yaml.safe_load(path.read_text("utf-8"))
        try:
            extensions.create_custom_resource_definition(document)
        except client.ApiException as error:
            if error.status != CONFLICT:
                raise
        _wait_until_served(extensions, document["metadata"]["name"])


def files(name: str) -> list[Path]:
    """The files of one folder of definitions; raises `FileNotFoundError` where there are none."""
    found = sorted((assets() / "definitions" / name).glob("*.yaml"))
    if not found:
        raise FileNotFoundError(f"no definitions of {name} in {assets()}: make controlplane")
    return found


def _wait_until_served(extensions: client.ApiextensionsV1Api, name: str) -> None:
    end = time.monotonic() + SERVED_SECONDS
    while not _is_served(extensions.read_custom_resource_definition(name)):
        if time.monotonic() > end:
            raise TimeoutError(f"{name} not served within {SERVED_SECONDS:.0f} s")
        time.sleep(0.05)


def _is_served(definition: Any) -> bool:
    conditions = definition.status.conditions or ()
    return any(one.type == "Established" and one.status == "True" for one in conditions)
