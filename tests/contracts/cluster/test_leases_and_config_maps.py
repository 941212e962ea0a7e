from __future__ import annotations

import pytest

from tests.contracts.cluster.asking import refusal

SPEC = {"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0}


@pytest.fixture
def ledger(cluster, namespace):
    document = {"metadata": {"name": "ledger"}, "data": {"grants": "[]"}}
    return cluster.core.create_namespaced_config_map(namespace, document)


@pytest.fixture
def lease(cluster, namespace):
    document = {"metadata": {"name": "leader"}, "spec": SPEC}
    return cluster.leases.create_namespaced_lease(namespace, document)


def test_a_second_create_is_told_that_the_object_exists(cluster, namespace, ledger, lease):
    named = {"metadata": {"name": "ledger"}}
    answer = refusal(cluster.core.create_namespaced_config_map, namespace, named)
    assert (answer.code, answer.reason) == (409, "AlreadyExists")
    named = {"metadata": {"name": "leader"}, "spec": SPEC}
    answer = refusal(cluster.leases.create_namespaced_lease, namespace, named)
    assert (answer.code, answer.reason) == (409, "AlreadyExists")


def test_of_two_writers_from_one_reading_the_second_loses(cluster, namespace, ledger):
    first, second = (cluster.core.read_namespaced_config_map("ledger", namespace) for _ in range(2))
    first.data["grants"] = '["first"]'
    cluster.core.replace_namespaced_config_map("ledger", namespace, first)
    second.data["grants"] = '["second"]'
    answer = refusal(cluster.core.replace_namespaced_config_map, "ledger", namespace, second)
    assert (answer.code, answer.reason) == (409, "Conflict")
    after = cluster.core.read_namespaced_config_map("ledger", namespace)
    assert after.data["grants"] == '["first"]'


def test_a_config_map_without_a_resource_version_overwrites(cluster, namespace, ledger):
    document = {"metadata": {"name": "ledger"}, "data": {"grants": "mine"}}
    after = cluster.core.replace_namespaced_config_map("ledger", namespace, document)
    assert after.data == {"grants": "mine"}


def test_a_patch_of_one_key_leaves_the_others(cluster, namespace, ledger):
    after = cluster.core.patch_namespaced_config_map("ledger", namespace, {"data": {"more": "1"}})
    assert after.data == {"grants": "[]", "more": "1"}


def test_a_patch_with_a_stale_version_loses_as_well(cluster, namespace, ledger):
    patch = {
        "data": {"grants": "mine"},
        "metadata": {"resourceVersion": ledger.metadata.resource_version},
    }
    merge = {"_content_type": "application/merge-patch+json"}
    cluster.core.patch_namespaced_config_map("ledger", namespace, patch, **merge)
    write = cluster.core.patch_namespaced_config_map
    answer = refusal(write, "ledger", namespace, patch, **merge)
    assert (answer.code, answer.reason) == (409, "Conflict")


def test_a_config_map_that_is_gone_cannot_be_replaced(cluster, namespace, ledger):
    cluster.core.delete_namespaced_config_map("ledger", namespace)
    answer = refusal(cluster.core.replace_namespaced_config_map, "ledger", namespace, ledger)
    assert answer.code in (404, 409)
    assert refusal(cluster.core.read_namespaced_config_map, "ledger", namespace).code == 404


def test_a_lease_changes_hands_once(cluster, namespace, lease):
    taken = cluster.leases.read_namespaced_lease("leader", namespace)
    taken.spec.holder_identity, taken.spec.lease_transitions = "b", 1
    after = cluster.leases.replace_namespaced_lease("leader", namespace, taken)
    assert (after.spec.holder_identity, after.spec.lease_transitions) == ("b", 1)
    lease.spec.holder_identity = "c"
    answer = refusal(cluster.leases.replace_namespaced_lease, "leader", namespace, lease)
    assert (answer.code, answer.reason) == (409, "Conflict")


def test_a_lease_must_say_which_version_it_replaces(cluster, namespace, lease):
    document = {"metadata": {"name": "leader"}, "spec": SPEC}
    answer = refusal(cluster.leases.replace_namespaced_lease, "leader", namespace, document)
    assert (answer.code, answer.reason) == (422, "Invalid")


def test_the_micro_time_of_a_lease_comes_back_as_it_went(cluster, namespace):
    spec = {**SPEC, "renewTime": "2026-11-30T12:00:00.123456Z"}
    document = {"metadata": {"name": "leader"}, "spec": spec}
    cluster.leases.create_namespaced_lease(namespace, document)
    found = cluster.leases.read_namespaced_lease("leader", namespace)
    assert found.spec.renew_time.microsecond == 123456


def test_nothing_can_be_created_in_a_namespace_that_does_not_exist(cluster):
    document = {"metadata": {"name": "ledger"}}
    answer = refusal(cluster.core.create_namespaced_config_map, "nowhere", document)
    assert (answer.code, answer.reason) == (404, "NotFound")
