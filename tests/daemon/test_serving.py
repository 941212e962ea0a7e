"""The server answers, is bounded, and frees its socket."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import requests

from daemon.serving import CONNECTIONS, Server


def hello(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    running: list[Server] = []

    def start(application: Any = hello, **options: Any) -> Server:
        server = Server(application, host="127.0.0.1", port=0, **options)
        server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.close()


@pytest.fixture
def connect() -> Iterator[Callable[[Server], socket.socket]]:
    opened: list[socket.socket] = []

    def one(server: Server) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        opened.append(connection)
        return connection

    yield one
    for connection in opened:
        connection.close()


def ask(server: Server, timeout_seconds: float = 3.0) -> str:
    return requests.get(f"http://127.0.0.1:{server.port}/", timeout=timeout_seconds).text


def test_silent_clients_hold_no_thread(serve, connect) -> None:
    server = serve(threads=2)
    for _ in range(20):
        connect(server)
    begun = time.monotonic()
    assert ask(server) == "hello"
    assert time.monotonic() - begun < 1.0


def test_a_request_that_trickles_is_cut_though_it_never_falls_silent(serve, connect) -> None:
    server = serve(threads=2, timeout_seconds=1)
    slow = [connect(server) for _ in range(2)]
    cut = [False, False]

    def trickle(index: int) -> None:
        try:
            for byte in b"GET / HTTP/1.1\r\nHost: " + b"x" * 1_000:
                slow[index].sendall(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            cut[index] = True

    threads = [threading.Thread(target=trickle, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)  # both threads of the server are taken
    assert ask(server, 5.0) == "hello"
    for thread in threads:
        thread.join(10)
    assert cut == [True, True]


def test_a_client_that_does_not_read_gives_its_thread_back(serve, connect) -> None:
    def large(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [bytes(1 << 20) for _ in range(64)]

    server = serve(large, threads=1, timeout_seconds=1)
    deaf = connect(server)
    deaf.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.1)
    begun = time.monotonic()
    with requests.get(f"http://127.0.0.1:{server.port}/", stream=True, timeout=8) as answer:
        assert answer.status_code == 200
    assert time.monotonic() - begun < 4.0


def test_one_connection_too_many_is_closed_and_the_others_live(serve, connect) -> None:
    server = serve(timeout_seconds=5)
    kept = [connect(server) for _ in range(CONNECTIONS)]
    time.sleep(0.2)
    assert connect(server).recv(1) == b""
    kept[0].sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert kept[0].recv(4096).startswith(b"HTTP/1.1 200")


def test_a_silent_connection_is_closed_after_its_time(serve, connect) -> None:
    silent = connect(serve(timeout_seconds=1))
    begun = time.monotonic()
    assert silent.recv(1) == b""
    assert time.monotonic() - begun < 4.0


def test_a_kept_connection_answers_again_and_again(serve) -> None:
    server = serve()
    with requests.Session() as session:
        for _ in range(3):
            assert session.get(f"http://127.0.0.1:{server.port}/", timeout=3).text == "hello"


def test_a_closed_server_frees_its_port() -> None:
    first = Server(hello, host="127.0.0.1", port=0)
    first.start()
    port = first.port
    first.close()
    second = Server(hello, host="127.0.0.1", port=port)
    second.start()
    second.close()
