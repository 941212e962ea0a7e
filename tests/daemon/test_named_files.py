"""Files that settings name are looked at: each that cannot be used is one line with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.named_files import troubles
from daemon.settings import Section
from daemon.tls import TlsSection


class Endpoint(Section):
    password_file: str = ""
    ca_file: str | None = None


class Root(Section):
    first: Endpoint = Endpoint()
    others: tuple[Endpoint, ...] = ()
    tls: TlsSection | None = None
    kubeconfig: str | None = None


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text("secret\n", encoding="utf-8")
    return path


def test_what_is_not_named_is_not_looked_for_and_what_is_there_is_well(secret: Path) -> None:
    assert troubles(Root()) == []
    assert troubles(Root(first=Endpoint(password_file=str(secret)))) == []


def test_each_file_has_its_line_with_place_reason_and_expectation(
    tmp_path: Path, secret: Path
) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    named = Root(
        first=Endpoint(password_file=str(tmp_path / "absent"), ca_file=str(secret)),
        others=(Endpoint(), Endpoint(password_file=str(empty), ca_file=str(tmp_path))),
        kubeconfig="/nowhere",
    )
    readable, authorities = "expected a readable file", "expected certificates in PEM form"
    assert troubles(named) == [
        f"first.password_file: {tmp_path}/absent: no such file or directory, {readable}",
        f"first.ca_file: {secret}: no certificate in it, {authorities}",
        f"others[1].password_file: {empty}: empty, {readable}",
        f"others[1].ca_file: {tmp_path}: is a directory, {authorities}",
        f"kubeconfig: /nowhere: no such file or directory, {readable}",
    ]


def test_a_servers_pair_must_fit(secret: Path) -> None:
    (line,) = troubles(Root(tls=TlsSection(certificate=str(secret), key=str(secret))))
    assert line.startswith(f"tls: {secret}, {secret}: ")
    assert line.endswith("expected a certificate with its key")
