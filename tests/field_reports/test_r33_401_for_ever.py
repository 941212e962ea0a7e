"""R33: the service account's token, and then its CA, are replaced under a service that runs on."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Self

import pytest

from daemon.serving import Server
from daemon.tls import Tls
from remediation.kube.connection import connect
from remediation.kube.ledger import ConfigMapLedger
from remediation.ports import CallFailed, FailureReason
from tests.factories import certificates
from tests.factories.mounted import Mounted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from remediation.kube.connection import Connection
    from tests.factories.certificates import Pair

LEDGER = {"metadata": {"name": "forewarn-ledger", "resourceVersion": "7"}}


class Api:
    """An API server over TLS that accepts one token, the newest."""

    def __init__(self, pair: Pair, token: str) -> None:
        self.token = token
        self.refused = 0
        self.hangs_up = False
        self._pair = pair
        self._server = Server(self, host="127.0.0.1", port=0, tls=Tls(*pair))

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    @property
    def port(self) -> int:
        return self._server.port

    def show(self, pair: Pair) -> None:
        """Show another certificate to whoever connects from now on."""
        for mine, fresh in zip(self._pair, pair, strict=True):
            mine.write_bytes(fresh.read_bytes())

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        good = scheme.lower() == "bearer" and token == self.token
        self.refused += not good
        body = LEDGER if good else {"kind": "Status", "code": 401, "message": "Unauthorized"}
        status = "200 OK" if good else "401 Unauthorized"
        headers = [("Content-Type", "application/json")]
        start_response(status, [*headers, *([("Connection", "close")] if self.hangs_up else [])])
        return [json.dumps(body).encode()]


def account(ca: Pair, token: bytes) -> dict[str, bytes]:
    return {"token": token, "ca.crt": ca.certificate.read_bytes()}


@pytest.fixture
def ca(tmp_path: Path) -> Pair:
    return certificates.authority(tmp_path / "ca")


@pytest.fixture
def mounted(tmp_path: Path, ca: Pair) -> Mounted:
    return Mounted(tmp_path / "account", account(ca, b"one"))


@pytest.fixture
def api(tmp_path: Path, ca: Pair) -> Iterator[Api]:
    with Api(certificates.signed(tmp_path / "server", ca, "server"), "one") as running:
        yield running


@pytest.fixture
def connection(api: Api, mounted: Mounted, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setitem(os.environ, "KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setitem(os.environ, "KUBERNETES_SERVICE_PORT", str(api.port))
    made = connect(kubeconfig=None, namespace="fw", timeout_seconds=2, account=mounted.folder)
    yield made
    made.close()


def reads(connection: Connection) -> bool:
    return ConfigMapLedger(connection).read().version == "7"


def test_r33_every_rotation_counts_at_the_next_call_whatever_the_clock_says(
    api: Api, connection: Connection, mounted: Mounted, ca: Pair
) -> None:
    assert reads(connection)
    for token in ("two", "three\n", "four"):
        mounted.rotate(account(ca, token.encode()))
        api.token = token.strip()
        assert reads(connection)
    assert api.refused == 0


def test_r33_a_file_that_is_empty_during_the_swap_costs_no_call(
    api: Api, connection: Connection, mounted: Mounted, ca: Pair
) -> None:
    mounted.rotate(account(ca, b""))
    assert reads(connection)
    assert reads(connection.apart()), "the lease has sockets of its own and the same token"
    mounted.rotate(account(ca, b"two"))
    api.token = "two"
    assert reads(connection)


def test_r33_a_token_that_is_refused_is_said_so_and_ends_with_the_next_one(
    api: Api, connection: Connection, mounted: Mounted, ca: Pair
) -> None:
    api.token = "two"
    with pytest.raises(CallFailed) as caught:
        reads(connection)
    assert caught.value.reason is FailureReason.UNAUTHORIZED
    mounted.rotate(account(ca, b"two"))
    assert reads(connection)


def test_r33_a_new_ca_is_believed_by_the_next_connection(
    api: Api, connection: Connection, mounted: Mounted, tmp_path: Path
) -> None:
    api.hangs_up = True
    assert reads(connection)
    fresh = certificates.authority(tmp_path / "fresh", "fresh")
    api.show(certificates.signed(tmp_path / "fresh", fresh, "server"))
    with pytest.raises(CallFailed) as caught:
        reads(connection)
    assert caught.value.reason is FailureReason.UNREACHABLE
    mounted.rotate(account(fresh, b"one"))
    assert reads(connection)
