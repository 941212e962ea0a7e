"""Which pods belong together, in the order in which their words are believed."""

from __future__ import annotations

from typing import Any

import pytest

from remediation.policy.facts.jobs import Bond, job_of, needs_owner, rank
from remediation.policy.facts.pod import Owner
from tests.remediation.builders import a_pod

TOP = Owner("Training", "llm", "u-top")
OF_A_JOB = {"labels": {"batch.kubernetes.io/job-name": "j"}, "owner": "Job", "owner_uid": "u-j"}
JOBSET = {
    "jobset.sigs.k8s.io/jobset-name": "llm",
    "jobset.sigs.k8s.io/jobset-uid": "u-llm",
    "batch.kubernetes.io/job-name": "llm-workers-0",
}


@pytest.mark.parametrize(
    ("pod", "kind", "name", "bond"),
    [
        pytest.param(
            {"notes": {"forewarn.dev/group": "mine"}, "pod_group": "pg", "labels": JOBSET},
            "group",
            "mine",
            Bond.GANG,
            id="our-annotation-before-all",
        ),
        pytest.param(
            {"pod_group": "pg", "labels": JOBSET}, "PodGroup", "pg", Bond.GANG, id="native-group"
        ),
        pytest.param(
            {"notes": {"scheduling.k8s.io/group-name": "vg"}},
            "PodGroup",
            "vg",
            Bond.GANG,
            id="volcano-group",
        ),
        pytest.param(
            {"labels": {"kueue.x-k8s.io/pod-group-name": "kg"}},
            "PodGroup",
            "kg",
            Bond.GANG,
            id="kueue-group",
        ),
        pytest.param({"labels": JOBSET}, "JobSet", "llm", Bond.GANG, id="jobset-before-its-jobs"),
        pytest.param(
            {"labels": {"batch.kubernetes.io/job-name": "j"}}, "Job", "j", Bond.GANG, id="job"
        ),
        pytest.param(
            {"labels": {"training.kubeflow.org/job-name": "pt"}, "owner": "PyTorchJob"},
            "KubeflowJob",
            "pt",
            Bond.GANG,
            id="kubeflow",
        ),
        pytest.param(
            {
                "labels": {
                    "leaderworkerset.sigs.k8s.io/name": "lws",
                    "leaderworkerset.sigs.k8s.io/group-index": "3",
                },
                "owner": "StatefulSet",
            },
            "LeaderWorkerSet",
            "lws/3",
            Bond.GANG,
            id="one-group-of-a-leader-worker-set",
        ),
        pytest.param(
            {"labels": {"ray.io/cluster": "ray"}}, "RayCluster", "ray", Bond.GANG, id="ray"
        ),
        pytest.param(
            {"labels": {"volcano.sh/job-name": "vc"}}, "VolcanoJob", "vc", Bond.GANG, id="volcano"
        ),
        pytest.param(
            {
                "labels": {"pod-template-hash": "5d4f"},
                "owner": "ReplicaSet",
                "owner_name": "serve-5d4f",
            },
            "Deployment",
            "serve",
            Bond.REPLICAS,
            id="deployment-behind-its-replica-set",
        ),
        pytest.param(
            {"owner": "ReplicaSet", "owner_name": "bare"},
            "ReplicaSet",
            "bare",
            Bond.REPLICAS,
            id="replica-set-of-its-own",
        ),
        pytest.param(
            {"owner": "StatefulSet", "owner_name": "db"},
            "StatefulSet",
            "db",
            Bond.ORDERED,
            id="stateful-set",
        ),
        pytest.param(
            {"owner": "Mystery", "owner_name": "m"}, "Mystery", "m", Bond.GANG, id="unknown-is-gang"
        ),
        pytest.param({"owner": None}, "Pod", "p1", Bond.REPLICAS, id="nobodys-pod"),
    ],
)
def test_a_pod_names_its_job(pod: dict[str, Any], kind: str, name: str, bond: Bond) -> None:
    job = job_of(a_pod(**pod))
    assert (job.kind, job.name, job.bond) == (kind, name, bond)


def test_a_label_of_the_site_goes_before_those_that_are_known() -> None:
    pod = a_pod(labels={**JOBSET, "acme.example/run": "r7"})
    assert job_of(pod, ("acme.example/run",)).name == "r7"
    assert job_of(a_pod(labels=JOBSET), ("acme.example/run",)).name == "llm"


def test_the_uid_tells_a_job_from_an_earlier_one_of_the_same_name() -> None:
    again = {**JOBSET, "jobset.sigs.k8s.io/jobset-uid": "u-other"}
    assert job_of(a_pod(labels=JOBSET)).key == "u-llm"
    assert job_of(a_pod(labels=again)).key == "u-other"


def test_the_same_name_in_another_namespace_is_another_job() -> None:
    labels = {"ray.io/cluster": "ray"}
    here, there = job_of(a_pod(labels=labels)), job_of(a_pod(labels=labels, namespace="b"))
    assert here.key != there.key


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        ({"name": "db-11"}, 11),
        ({"name": "db-0", "labels": {"apps.kubernetes.io/pod-index": "4"}}, 4),
        ({"name": "db"}, -1),
    ],
)
def test_the_rank_is_the_index_label_or_the_end_of_the_name(
    pod: dict[str, Any], expected: int
) -> None:
    assert rank(a_pod(**pod)) == expected


@pytest.mark.parametrize("labelled", [True, False])
def test_jobs_of_one_owner_are_one_job(labelled: bool) -> None:
    pod = {**OF_A_JOB, "labels": OF_A_JOB["labels"] if labelled else {}}
    found = job_of(a_pod(top=TOP, **pod))
    assert (found.kind, found.name, found.key, found.bond) == ("Training", "llm", "u-top", "gang")


def test_a_schedule_owns_no_job_that_is_moved_as_one() -> None:
    scheduled = a_pod(top=Owner("CronJob", "nightly", "u-cron"), **OF_A_JOB)
    assert job_of(scheduled).kind == "Job"


def test_an_owner_is_asked_for_only_where_the_pod_does_not_say_it_better() -> None:
    assert needs_owner(a_pod(**OF_A_JOB))
    assert not needs_owner(a_pod(**{**OF_A_JOB, "labels": JOBSET}))
    assert not needs_owner(a_pod(notes={"forewarn.dev/group": "mine"}, **OF_A_JOB))
    assert not needs_owner(a_pod(pod_group="pg", **OF_A_JOB))
    assert not needs_owner(a_pod(gpus=False, **OF_A_JOB))
    assert not needs_owner(a_pod(owner="ReplicaSet", owner_uid="u"))
