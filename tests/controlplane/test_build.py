from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

BUILD = Path(__file__).with_name("build.sh")


def _build(*arguments, **environment):
    return subprocess.run(
        [str(BUILD), *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_tool_line_is_a_program_and_every_list_of_definitions_a_folder():
    assert _build("--list").stdout.split() == [
        "etcd",
        "jobset",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubectl",
        "trainer-controller-manager",
        "definitions/jobset",
        "definitions/snapshots",
        "definitions/trainer",
    ]


def test_the_newest_monitoring_is_a_set_of_its_own(tmp_path):
    listed = _build("--monitoring", "--list").stdout.split()
    assert listed == ["alertmanager", "amtool", "prometheus", "promtool"]
    where = _build("--monitoring", "--where", FOREWARN_MONITORING=str(tmp_path))
    assert where.stdout.strip() == str(tmp_path)


def test_the_programs_live_where_envtest_would_look(tmp_path):
    assert _build("--where", KUBEBUILDER_ASSETS=str(tmp_path)).stdout.strip() == str(tmp_path)


def test_without_that_they_live_in_the_users_cache_so_that_clones_share_them(tmp_path):
    found = Path(_build("--where", XDG_CACHE_HOME=str(tmp_path)).stdout.strip())
    assert found.parent == tmp_path / "forewarn" / "controlplane"


def test_what_is_there_is_not_built_again(tmp_path):
    for name in _build("--list").stdout.split():
        if name.startswith("definitions/"):
            (tmp_path / name).mkdir(parents=True)
        else:
            (tmp_path / name).touch(mode=0o755)
    done = _build(str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_cannot_be_built_is_named_and_fails_the_build(tmp_path):
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(
        '#!/bin/sh\n[ "$1" = env ] && echo go1.99.0 && exit\necho no such module >&2\nexit 1\n'
    )
    go.chmod(0o755)
    failed = _build(str(tmp_path / "target"), PATH=f"{go.parent}:/usr/bin:/bin")
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("control plane: etcd could not be made")
    assert not (tmp_path / "target" / "jobset").exists()


def test_without_go_one_line_says_what_brings_it(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "awk", "cat", "cut", "dirname", "basename"):
        (programs / name).symlink_to(shutil.which(name))
    tree = tmp_path / "tree" / "tests" / "controlplane"
    (tree / "etcd").mkdir(parents=True)
    (tree / "build.sh").write_bytes(BUILD.read_bytes())
    (tree / "etcd" / "go.mod").write_bytes((BUILD.parent / "etcd" / "go.mod").read_bytes())
    failed = subprocess.run(
        [str(programs / "sh"), str(tree / "build.sh"), str(tmp_path / "target")],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert line.endswith("this brings it: make go")
