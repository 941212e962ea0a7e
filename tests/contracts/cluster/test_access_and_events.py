from __future__ import annotations

import requests
from kubernetes import client

from tests.contracts.cluster.asking import refusal


def _event(node, namespace):
    return {
        "metadata": {"generateName": "forewarn-", "namespace": namespace},
        "involvedObject": {"kind": "Node", "apiVersion": "v1", "name": node, "uid": node},
        "reason": "Excluded",
        "message": "cordoned: memory, 0.83 within 6 h",
        "type": "Normal",
        "source": {"component": "forewarn-remediation"},
    }


def test_an_event_about_a_node_is_kept_in_the_default_namespace(cluster, node):
    created = cluster.core.create_namespaced_event("default", _event(node, "default"))
    assert created.metadata.name.startswith("forewarn-")
    selector = f"involvedObject.name={node},reason=Excluded"
    (found,) = cluster.core.list_namespaced_event("default", field_selector=selector).items
    assert found.message == "cordoned: memory, 0.83 within 6 h"


def test_an_event_about_a_node_has_no_place_in_another_namespace(cluster, namespace, node):
    create = cluster.core.create_namespaced_event
    answer = refusal(create, namespace, _event(node, namespace))
    assert (answer.code, answer.reason) == (422, "Invalid")


def test_what_is_offered_is_told_by_group_version_and_kind(cluster):
    groups = {one.name: one for one in client.ApisApi(cluster.api).get_api_versions().groups}
    assert groups["batch"].preferred_version.version == "v1"
    assert "no.such.group" not in groups
    kinds = client.CustomObjectsApi(cluster.api).get_api_resources("batch", "v1").resources
    (jobs,) = [one for one in kinds if one.name == "jobs"]
    assert (jobs.kind, jobs.namespaced) == ("Job", True)


def test_a_wrong_token_is_unauthorized(cluster):
    with cluster.with_token("wrong") as api:
        answer = refusal(client.CoreV1Api(api).list_node)
    assert (answer.code, answer.reason) == (401, "Unauthorized")


def test_no_token_is_forbidden_to_read_but_may_ask_for_health(cluster):
    with cluster.with_token(None) as api:
        answer = refusal(client.CoreV1Api(api).list_node)
        assert (answer.code, answer.reason) == (403, "Forbidden")
        assert client.VersionApi(api).get_code().git_version.startswith("v1.")
        settings = api.configuration
        health = requests.get(settings.host + "/healthz", verify=settings.ssl_ca_cert, timeout=5)
    assert (health.status_code, health.text) == (200, "ok")


def test_an_unknown_resource_has_a_status_and_an_unknown_group_plain_text(cluster):
    settings = cluster.api.configuration
    headers = {"Authorization": settings.get_api_key_with_prefix("BearerToken")}

    def ask(path):
        url = settings.host + path
        return requests.get(url, headers=headers, verify=settings.ssl_ca_cert, timeout=5)

    resource, group = ask("/api/v1/widgets"), ask("/apis/example.com/v1/widgets")
    assert (resource.status_code, resource.json()["reason"]) == (404, "NotFound")
    assert (group.status_code, group.text) == (404, "404 page not found\n")
