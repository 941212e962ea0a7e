"""R28, the exporter's side: the node's name is Kubernetes' word, never the machine's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from exporter.settings import Settings

DAEMONSET = Path(__file__).resolve().parents[2] / "deploy" / "exporter" / "daemonset.yaml"


@pytest.mark.parametrize(
    "name", ["aks-gpu-31415926-vmss00000q", "ip-10-1-2-3.eu-central-1.compute.internal", "gpu-07"]
)
def test_r28_the_given_name_is_taken_letter_by_letter(name: str) -> None:
    assert Settings().node_name({"NODE_NAME": name, "HOSTNAME": name.upper()}) == name


def test_r28_a_host_name_is_no_substitute() -> None:
    with pytest.raises(ValueError, match="NODE_NAME"):
        Settings().node_name({"HOSTNAME": "gpu-07.dc1.example"})


def test_r28_the_daemonset_takes_it_from_the_pods_node() -> None:
    (container,) = yaml.safe_load(DAEMONSET.read_text())["spec"]["template"]["spec"]["containers"]
    (variable,) = (one for one in container["env"] if one["name"] == "NODE_NAME")
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
