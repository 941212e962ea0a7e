"""R28: only a node's exact name is acted on; a near miss is a hint for people."""

from __future__ import annotations

import json

import pytest

from remediation.alert import Ignored, read_post
from remediation.policy.facts.refusal import Reason
from remediation.policy.plan import plan
from tests.remediation.builders import a_node, a_suspect_snapshot, an_alert, only_finding

NODES = {
    name: a_node(name, labels=labels)
    for name, labels in {
        "aks-gpu-31415926-vmss00000q": {},
        "ip-10-1-2-3.eu-central-1.compute.internal": {},
        "ip-10-1-2-30.eu-central-1.compute.internal": {},
        "gpu-07": {"kubernetes.io/hostname": "gpu-07.dc1.example"},
        "gpu-07b": {},
    }.items()
}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ip-10-1-2-3", "ip-10-1-2-3.eu-central-1.compute.internal may be meant"),
        ("gpu-07.dc1.example", "gpu-07 may be meant"),
        ("gpu-0", ""),
    ],
)
def test_r28_a_name_that_is_not_exact_is_refused_with_a_hint(name: str, hint: str) -> None:
    snapshot = a_suspect_snapshot(an_alert(name), nodes=NODES)
    assert plan(snapshot).steps == ()
    refusal = only_finding(snapshot).refusal
    assert refusal is not None
    assert refusal.reason is Reason.UNKNOWN_NODE
    assert hint in refusal.words
    assert ("may be meant" in refusal.words) is bool(hint)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("aks-gpu-31415926-vmss00000Q", Ignored.MALFORMED_LABEL),
        ("gpu-07:9477", Ignored.MALFORMED_LABEL),
        (".*", Ignored.MALFORMED_LABEL),
        ("GPU-07", Ignored.MALFORMED_LABEL),
        ("", Ignored.NO_NODE),
    ],
)
def test_r28_what_no_node_can_be_called_is_counted_and_concerns_nobody(
    name: str, why: Ignored
) -> None:
    labels = {"alertname": "A", "severity": "critical", "remediation": "migrate", "node": name}
    body = json.dumps({"version": "4", "alerts": [{"status": "firing", "labels": labels}]}).encode()
    post = read_post(body, cluster="")
    assert (post.alerts, post.ignored) == ((), (why,))
