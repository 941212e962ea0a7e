from __future__ import annotations

from tests.contracts.cluster.asking import eventually, refusal

OURS = {"key": "forewarn.dev/at-risk", "value": "memory", "effect": "NoSchedule"}
THEIRS = {"key": "example.com/theirs", "effect": "PreferNoSchedule"}
OTHER_UID = "00000000-0000-0000-0000-000000000000"


def _taint_keys(node):
    return {taint.key for taint in node.spec.taints or ()}


def test_one_patch_cordons_and_says_why(cluster, node):
    before = cluster.core.read_node(node)
    after = cluster.core.patch_node(
        node,
        {
            "metadata": {
                "resourceVersion": before.metadata.resource_version,
                "annotations": {"forewarn.dev/episode": "{}"},
            },
            "spec": {"unschedulable": True},
        },
    )
    assert after.spec.unschedulable is True
    assert after.metadata.annotations["forewarn.dev/episode"] == "{}"
    assert after.metadata.resource_version != before.metadata.resource_version


def test_a_patch_with_a_stale_resource_version_is_a_conflict_and_changes_nothing(cluster, node):
    stale = cluster.core.read_node(node).metadata.resource_version
    cluster.core.patch_node(node, {"metadata": {"annotations": {"someone": "else"}}})
    patch = {"metadata": {"resourceVersion": stale}, "spec": {"unschedulable": True}}
    answer = refusal(cluster.core.patch_node, node, patch)
    assert (answer.code, answer.reason) == (409, "Conflict")
    assert cluster.core.read_node(node).spec.unschedulable is None


def test_a_write_meant_for_another_node_of_the_same_name_is_refused(cluster, node):
    patch = {"metadata": {"uid": OTHER_UID}}
    assert refusal(cluster.core.patch_node, node, patch).code == 422
    document = cluster.core.read_node(node)
    document.metadata.uid = OTHER_UID
    assert refusal(cluster.core.replace_node, node, document).code == 409


def test_a_patch_with_one_taint_takes_every_other_away(cluster, node):
    cluster.core.patch_node(node, {"spec": {"taints": [THEIRS]}})
    after = cluster.core.patch_node(node, {"spec": {"taints": [OURS]}})
    assert _taint_keys(after) == {"forewarn.dev/at-risk"}


def test_the_same_key_may_taint_with_two_effects_but_not_twice_with_one(cluster, node):
    both = [OURS, {**OURS, "effect": "PreferNoSchedule"}]
    assert len(cluster.core.patch_node(node, {"spec": {"taints": both}}).spec.taints) == 2
    twice = {"spec": {"taints": [OURS, {**OURS, "value": "power"}]}}
    assert refusal(cluster.core.patch_node, node, twice).code == 422


def test_an_unknown_taint_effect_is_invalid(cluster, node):
    patch = {"spec": {"taints": [{**OURS, "effect": "Sometimes"}]}}
    answer = refusal(cluster.core.patch_node, node, patch)
    assert (answer.code, answer.reason) == (422, "Invalid")


def test_a_cordon_brings_the_clusters_own_taint_and_lifting_it_takes_it_away(cluster, node):
    own = "node.kubernetes.io/unschedulable"
    cluster.core.patch_node(node, {"spec": {"unschedulable": True}})
    eventually(lambda: own in _taint_keys(cluster.core.read_node(node)))
    after = cluster.core.patch_node(node, {"spec": {"unschedulable": False}})
    assert after.spec.unschedulable is None
    eventually(lambda: own not in _taint_keys(cluster.core.read_node(node)))


def test_a_null_takes_an_annotation_away(cluster, node):
    cluster.core.patch_node(node, {"metadata": {"annotations": {"ours": "1", "theirs": "2"}}})
    after = cluster.core.patch_node(node, {"metadata": {"annotations": {"ours": None}}})
    assert after.metadata.annotations.get("theirs") == "2"
    assert "ours" not in after.metadata.annotations


def test_a_merge_patch_does_the_same(cluster, node):
    after = cluster.core.patch_node(
        node,
        {"metadata": {"annotations": {"ours": "1"}}, "spec": {"taints": [OURS]}},
        _content_type="application/merge-patch+json",
    )
    assert after.metadata.annotations["ours"] == "1"
    assert _taint_keys(after) == {"forewarn.dev/at-risk"}


def test_a_patch_that_changes_nothing_keeps_the_resource_version(cluster, node):
    patch = {"metadata": {"annotations": {"ours": "1"}}}
    first = cluster.core.patch_node(node, patch)
    second = cluster.core.patch_node(node, patch)
    assert first.metadata.resource_version == second.metadata.resource_version


def test_the_status_is_out_of_reach_of_a_patch_of_the_node(cluster, node):
    after = cluster.core.patch_node(node, {"status": {"capacity": {"nvidia.com/gpu": "1"}}})
    assert after.status.capacity["nvidia.com/gpu"] == "8"


def test_a_node_that_is_not_there_is_not_found(cluster):
    assert refusal(cluster.core.read_node, "nobody").code == 404
    answer = refusal(cluster.core.patch_node, "nobody", {"spec": {"unschedulable": True}})
    assert (answer.code, answer.reason) == (404, "NotFound")


def _owners(node, field):
    entries = node.metadata.managed_fields or ()
    return [entry.manager for entry in entries if field in (entry.fields_v1.get("f:spec") or {})]


def test_the_server_books_who_cordoned_and_forgets_it_when_the_cordon_is_lifted(cluster, node):
    patch, cordon, uncordon = (
        cluster.core.patch_node,
        {"spec": {"unschedulable": True}},
        {"spec": {"unschedulable": False}},
    )
    ours = patch(node, cordon, field_manager="forewarn-remediation")
    assert _owners(ours, "f:unschedulable") == ["forewarn-remediation"]
    repeated = patch(node, cordon, field_manager="kubectl-cordon")
    assert _owners(repeated, "f:unschedulable") == ["forewarn-remediation"]
    lifted = patch(node, uncordon, field_manager="kubectl-uncordon")
    assert _owners(lifted, "f:unschedulable") == []
    theirs = patch(node, cordon, field_manager="kubectl-cordon")
    assert _owners(theirs, "f:unschedulable") == ["kubectl-cordon"]


def test_of_two_annotations_each_belongs_to_its_last_writer(cluster, node):
    both = {"metadata": {"annotations": {"one": "1", "two": "2"}}}
    cluster.core.patch_node(node, both, field_manager="first")
    one = {"metadata": {"annotations": {"one": "changed"}}}
    after = cluster.core.patch_node(node, one, field_manager="second")
    booked = {
        entry.manager: set(entry.fields_v1["f:metadata"]["f:annotations"]) - {"."}
        for entry in after.metadata.managed_fields
        if "f:annotations" in (entry.fields_v1.get("f:metadata") or {})
    }
    assert booked["second"] == {"f:one"}
    assert booked["first"] == {"f:two"}
