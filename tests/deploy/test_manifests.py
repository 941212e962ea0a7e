"""The manifests agree with each other, with the settings and with the examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from model import cli

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted(path for path in DEPLOY.rglob("*.yaml") if path.name != "kustomization.yaml")
WORKLOADS = [
    DEPLOY / "exporter" / "daemonset.yaml",
    DEPLOY / "remediation" / "deployment.yaml",
    DEPLOY / "facility" / "deployment.yaml",
]

JOBS = [DEPLOY / "training" / "fleet.yaml", DEPLOY / "training" / "nodes.yaml"]


def read(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text()))


def pod_of(path: Path) -> dict[str, Any]:
    return dict(read(path)["spec"]["template"]["spec"])


def services() -> dict[str, dict[str, Any]]:
    """Address → spec, of the Services in the namespace forewarn."""
    found = [read(path) for path in MANIFESTS]
    return {
        f"{one['metadata']['name']}.{one['metadata']['namespace']}.svc": one["spec"]
        for one in found
        if one["kind"] == "Service"
    }


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_one_object_per_file_in_the_namespace_it_says(path: Path) -> None:
    (document,) = yaml.safe_load_all(path.read_text())
    cluster_wide = document["kind"] in {"Namespace", "ClusterRole", "ClusterRoleBinding"}
    assert cluster_wide is ("namespace" not in document["metadata"])


def test_the_fleets_training_is_given_the_memory_that_one_was_seen_to_take() -> None:
    told = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
    line = next(one for one in told.splitlines() if "train --simulate bundled" in one)
    (peak,) = re.findall(r"([0-9.]+) GiB at the most", line)
    (container,) = pod_of(DEPLOY / "training" / "fleet.yaml")["containers"]
    limit = container["resources"]["limits"]["memory"]
    assert limit.endswith("Gi")
    assert float(limit.removesuffix("Gi")) >= 1.5 * float(peak)


@pytest.mark.parametrize(
    "folder",
    [path.parent for path in DEPLOY.rglob("kustomization.yaml")],
    ids=lambda path: path.name,
)
def test_kustomize_takes_every_manifest_of_its_folder(folder: Path) -> None:
    listed = {str(name) for name in read(folder / "kustomization.yaml")["resources"]}
    beside = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
    assert beside <= listed
    assert all((folder / name).exists() for name in listed)


@pytest.mark.parametrize("path", [*WORKLOADS, *JOBS], ids=lambda path: path.stem)
def test_containers_may_do_as_little_as_possible(path: Path) -> None:
    pod = pod_of(path)
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert not [volume for volume in pod["volumes"] if "hostPath" in volume]
    assert container["resources"]["limits"].keys() == {"memory"}, "a CPU limit throttles"


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_probes_and_selectors_point_at_what_exists(path: Path) -> None:
    document, pod = read(path), pod_of(path)
    (container,) = pod["containers"]
    names = {port["name"] for port in container["ports"]}
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in names
    labels = document["spec"]["template"]["metadata"]["labels"]
    assert document["spec"]["selector"]["matchLabels"].items() <= labels.items()


@pytest.mark.parametrize("path", [*WORKLOADS, *JOBS], ids=lambda path: path.stem)
def test_every_mounted_volume_is_declared_and_used(path: Path) -> None:
    pod = pod_of(path)
    mounted = pod["containers"][0]["volumeMounts"]
    assert {mount["name"] for mount in mounted} == {volume["name"] for volume in pod["volumes"]}
    assert not [mount for mount in mounted if "subPath" in mount], "it is never rotated"


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_the_settings_file_is_the_one_in_the_config_map(path: Path) -> None:
    (container,) = pod_of(path)["containers"]
    mounted = next(mount for mount in container["volumeMounts"] if mount["name"] == "config")
    name = read(path)["metadata"]["name"]
    source, key = next(
        (folder / (source or key), key)
        for folder in (DEPLOY, path.parent)
        for one in read(folder / "kustomization.yaml").get("configMapGenerator", ())
        for key, _, source in [one["files"][0].partition("=")]
        if one["name"] == name
    )
    assert container["args"][-2:] == ["--config", f"{mounted['mountPath']}/{key}"]
    assert source.exists()


def test_the_window_is_kept_on_a_volume() -> None:
    settings = read(DEPLOY / "config" / "exporter.cluster.yml")
    mounts = pod_of(WORKLOADS[0])["containers"][0]["volumeMounts"]
    assert settings["window"]["directory"] in {
        mount["mountPath"] for mount in mounts if not mount.get("readOnly")
    }


def test_the_exporter_reads_the_service_of_its_own_node() -> None:
    url = urlsplit(read(DEPLOY / "config" / "exporter.cluster.yml")["dcgm"]["url"])
    spec = services()[str(url.hostname)]
    assert spec["internalTrafficPolicy"] == "Local"
    assert url.port in {port["port"] for port in spec["ports"]}


def test_prometheus_example_scrapes_the_headless_services() -> None:
    example = read(ROOT / "alerts" / "prometheus.example.yml")
    for job in example["scrape_configs"]:
        (discovery,) = job["dns_sd_configs"]
        spec = services()[discovery["names"][0]]
        assert spec["clusterIP"] == "None"
        assert discovery["port"] in {port["port"] for port in spec["ports"]}


def test_alertmanager_example_posts_to_the_webhook_service() -> None:
    example = read(ROOT / "alerts" / "alertmanager.example.yml")
    (webhook,) = example["receivers"][1]["webhook_configs"]
    url = urlsplit(webhook["url"])
    assert url.port in {port["port"] for port in services()[str(url.hostname)]["ports"]}


def test_services_and_policies_name_ports_of_their_pods() -> None:
    ports = {
        read(path)["metadata"]["name"]: pod_of(path)["containers"][0]["ports"] for path in WORKLOADS
    }
    for path in MANIFESTS:
        document = read(path)
        if document["kind"] == "NetworkPolicy" and "ingress" in document["spec"]:
            known = {port["name"] for port in ports[document["metadata"]["name"]]}
            used = {port["port"] for rule in document["spec"]["ingress"] for port in rule["ports"]}
            assert used <= known, path
        if document["kind"] == "Service" and document["metadata"]["namespace"] == "forewarn":
            owner = document["spec"]["selector"]["app.kubernetes.io/name"]
            known_ports = {(port["name"], port["containerPort"]) for port in ports[owner]}
            used_ports = {(port["targetPort"], port["port"]) for port in document["spec"]["ports"]}
            assert used_ports <= known_ports, path


def test_rules_and_dashboards_come_along_whole() -> None:
    for folder, pattern in (("alerts", "*.rules.yml"), ("dashboards", "*.json")):
        (generated,) = read(ROOT / folder / "kustomization.yaml")["configMapGenerator"]
        assert set(generated["files"]) == {path.name for path in (ROOT / folder).glob(pattern)}


def test_tokens_are_mounted_where_the_settings_look_for_them() -> None:
    settings = read(DEPLOY / "config" / "remediation.example.yml")
    mounts = {mount["mountPath"] for mount in pod_of(WORKLOADS[1])["containers"][0]["volumeMounts"]}
    for part in ("webhook", "status"):
        assert str(Path(settings[part]["token_file"]).parent) in mounts


def test_the_cluster_has_one_name() -> None:
    prometheus = read(ROOT / "alerts" / "prometheus.example.yml")
    settings = read(DEPLOY / "config" / "remediation.cluster.yml")
    assert settings["cluster"] == prometheus["global"]["external_labels"]["cluster"]


def test_remediation_ships_observing() -> None:
    assert read(DEPLOY / "config" / "remediation.cluster.yml")["policy"]["mode"] == "observe"


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_training_jobs_say_what_the_command_understands(path: Path) -> None:
    arguments = cli.parser().parse_args(pod_of(path)["containers"][0]["args"])
    assert arguments.only == path.stem
    (claim,) = [volume for volume in pod_of(path)["volumes"] if "persistentVolumeClaim" in volume]
    mounts = {m["name"]: m["mountPath"] for m in pod_of(path)["containers"][0]["volumeMounts"]}
    assert str(arguments.out) == mounts[claim["name"]]
    assert arguments.work.parent == arguments.out


def test_each_share_of_the_training_has_a_pod() -> None:
    fleet = cli.parser().parse_args(pod_of(JOBS[0])["containers"][0]["args"])
    nodes = read(JOBS[1])["spec"]
    assert nodes["completionMode"] == "Indexed"
    assert nodes["completions"] == fleet.shards
