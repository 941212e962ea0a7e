"""The rights in deploy/ are the calls in remediation/kube, no more and no less."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
Right = tuple[str, str, str]
"""API group, resource, verb."""

CALL = re.compile(
    r"(?P<verb>list|read|patch|replace|create|delete|delete_collection)_"
    r"(?:namespaced_)?(?P<thing>[a-z_]+?)(?:_for_all_namespaces)?(?:_with_http_info)?"
)
VERBS = {"read": "get", "replace": "update", "delete_collection": "deletecollection"}
THINGS = {
    "node": ("", "nodes"),
    "node_status": ("", "nodes/status"),
    "pod": ("", "pods"),
    "pod_eviction": ("", "pods/eviction"),
    "event": ("", "events"),
    "config_map": ("", "configmaps"),
    "secret": ("", "secrets"),
    "persistent_volume_claim": ("", "persistentvolumeclaims"),
    "persistent_volume": ("", "persistentvolumes"),
    "lease": ("coordination.k8s.io", "leases"),
    "pod_disruption_budget": ("policy", "poddisruptionbudgets"),
}
"""The client's words for the resources that might be called; an unknown one fails the test."""


def calls(path: Path) -> set[Right]:
    """Every call of a client method in one file, also where the method is passed on."""
    names = [
        match
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and is_client(node.value)
        if (match := CALL.fullmatch(node.attr))
    ]
    rights = {(*THINGS[match["thing"]], VERBS.get(match["verb"], match["verb"])) for match in names}
    return rights | {
        (*THINGS[match["thing"]], "watch")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and any(word.arg == "watch" for word in node.keywords)
        if isinstance(node.func, ast.Attribute) and is_client(node.func.value)
        if (match := CALL.fullmatch(node.func.attr))
    }


def custom_calls(path: Path) -> set[Right]:
    """Calls on kinds that the client has no words for: group and plural are spelled in the call."""
    return {
        (*(_literal(node, word) for word in ("group", "plural")), verb)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "custom"
        for verb in [node.func.attr.partition("_")[0]]
    }


def _literal(call: ast.Call, word: str) -> str:
    value = next(one.value for one in call.keywords if one.arg == word)
    assert isinstance(value, ast.Constant), f"{word} must be spelled in the call"
    return str(value.value)


def is_client(node: ast.expr) -> bool:
    """Tell whether an expression is one of the connection's API groups."""
    return isinstance(node, ast.Attribute) and node.attr in {"core", "coordination", "policy"}


def granted() -> set[Right]:
    roles = [
        document
        for path in (ROOT / "deploy").rglob("*.yaml")
        if (document := yaml.safe_load(path.read_text())).get("kind") in {"Role", "ClusterRole"}
    ]
    return {
        (group, resource, verb)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_rights_equal_calls() -> None:
    files = sorted((ROOT / "remediation" / "kube").glob("*.py"))
    called = set().union(*(calls(path) | custom_calls(path) for path in files))
    assert granted() == called


def test_only_that_package_calls_the_client() -> None:
    """So that nothing hides from the test above."""
    others = [
        path
        for package in ("daemon", "exporter", "model", "remediation")
        for path in (ROOT / package).rglob("*.py")
        if path.parent.name != "kube"
    ]
    for path in others:
        assert not re.search(r"^\s*(from|import) kubernetes", path.read_text(), re.MULTILINE), path


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("x.core.list_node()", ("", "nodes", "list")),
        ("x.core.patch_node()", ("", "nodes", "patch")),
        ("x.core.list_pod_for_all_namespaces()", ("", "pods", "list")),
        ("x.core.create_namespaced_pod_eviction()", ("", "pods/eviction", "create")),
        ("x.coordination.replace_namespaced_lease()", ("coordination.k8s.io", "leases", "update")),
    ],
)
def test_a_call_is_read_as_its_right(line: str, right: Right, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(line)
    assert calls(tmp_path / "code.py") == {right}


def test_a_watch_is_a_right_of_its_own_beside_listing(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x.core.list_node(watch=True)")
    assert calls(tmp_path / "code.py") == {("", "nodes", "list"), ("", "nodes", "watch")}


def test_a_call_on_a_custom_kind_is_read_as_its_right(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(
        "x.custom.create_namespaced_custom_object(group='g', version='v1', plural='things')"
    )
    assert custom_calls(tmp_path / "code.py") == {("g", "things", "create")}


def test_the_exporter_has_no_account() -> None:
    daemonset = yaml.safe_load((ROOT / "deploy" / "exporter" / "daemonset.yaml").read_text())
    pod = daemonset["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in pod
