"""TLS: rotated certificates are followed, silence blocks nobody, clients show who they are."""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from daemon.logs import logger
from daemon.serving import Server
from daemon.tls import Tls, TlsUnusable
from tests.factories import certificates
from tests.factories.certificates import Pair

pytestmark = pytest.mark.scenario
OPEN = frozenset({"/healthz"})


def hello(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(environ["wsgi.url_scheme"]).encode()]


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return certificates.authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def pair(ca: Pair, tmp_path: Path) -> Pair:
    return certificates.signed(tmp_path, ca, "server")


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    running: list[Server] = []

    def start(tls: Tls, **options: Any) -> Server:
        server = Server(hello, host="127.0.0.1", port=0, tls=tls, **options)
        server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.close()


def get(server: Server, ca: Pair, path: str = "/", **options: Any) -> requests.Response:
    url = f"https://127.0.0.1:{server.port}{path}"
    return requests.get(url, verify=str(ca.certificate), timeout=5, **options)


def shown(server: Server) -> bytes:
    """The certificate that a new connection is given."""
    return ssl.get_server_certificate(("127.0.0.1", server.port)).strip().encode()


def test_it_answers_over_tls_and_says_so(serve, ca: Pair, pair: Pair) -> None:
    assert get(serve(Tls(*pair)), ca).text == "https"


def test_a_client_that_says_nothing_holds_up_no_handshake(serve, ca: Pair, pair: Pair) -> None:
    server = serve(Tls(*pair), threads=2)
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(8)]
    begun = time.monotonic()
    assert get(server, ca).text == "https"
    assert time.monotonic() - begun < 1.5
    for connection in silent:
        connection.close()


def test_plain_http_is_told_to_speak_https(serve, pair: Pair) -> None:
    server = serve(Tls(*pair))
    answer = requests.get(f"http://127.0.0.1:{server.port}/", timeout=5)
    assert (answer.status_code, answer.text) == (400, "this port speaks https\n")


def test_a_pair_that_does_not_fit_keeps_the_old_one_until_it_does(
    serve, ca: Pair, pair: Pair, tmp_path: Path
) -> None:
    log = io.StringIO()
    server = serve(Tls(*pair), log=logger("test", stream=log, style="json"))
    old = shown(server)
    fresh = certificates.signed(tmp_path / "next", ca, "server")
    pair.certificate.write_bytes(fresh.certificate.read_bytes())
    assert (shown(server), shown(server)) == (old, old)
    assert server.certificate_renewed is False
    assert log.getvalue().count("changed certificate refused") == 1
    pair.key.write_bytes(fresh.key.read_bytes())
    assert shown(server) == fresh.certificate.read_bytes().strip()
    assert server.certificate_renewed is True


def test_files_that_make_no_server_are_named(pair: Pair, tmp_path: Path) -> None:
    with pytest.raises(TlsUnusable, match=r"absent\.key"):
        Server(hello, host="127.0.0.1", port=0, tls=Tls(pair.certificate, tmp_path / "absent.key"))


def test_only_known_clients_are_let_in(serve, ca: Pair, pair: Pair, tmp_path: Path) -> None:
    server = serve(Tls(*pair, client_ca=ca.certificate))
    client = certificates.signed(tmp_path, ca, "prometheus")
    assert get(server, ca, cert=tuple(map(str, client))).status_code == 200
    with pytest.raises(requests.RequestException):
        get(server, ca)


def test_an_open_path_asks_for_no_certificate(serve, ca: Pair, pair: Pair, tmp_path: Path) -> None:
    server = serve(Tls(*pair, client_ca=ca.certificate, open_paths=OPEN))
    client = certificates.signed(tmp_path, ca, "prometheus")
    assert get(server, ca, "/healthz").status_code == 200
    assert get(server, ca, "/metrics").status_code == 403
    assert get(server, ca, "/metrics", cert=tuple(map(str, client))).status_code == 200


def test_a_foreign_certificate_opens_nothing(serve, ca: Pair, pair: Pair, tmp_path: Path) -> None:
    server = serve(Tls(*pair, client_ca=ca.certificate, open_paths=OPEN))
    foreign = certificates.signed(tmp_path, certificates.authority(tmp_path, "other"), "spy")
    with pytest.raises(requests.RequestException):
        get(server, ca, "/metrics", cert=tuple(map(str, foreign)))
