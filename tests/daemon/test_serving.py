"""The server answers, is bounded, and frees its socket."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from typing import Any

import requests

from daemon.serving import Server


def hello(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


def test_it_answers_while_slow_clients_hold_other_threads() -> None:
    server = Server(hello, host="127.0.0.1", port=0, threads=4, timeout_seconds=5)
    server.start()
    try:
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost:")
        answer = requests.get(f"http://127.0.0.1:{server.port}/", timeout=3)
        assert answer.text == "hello"
        for connection in slow:
            connection.close()
    finally:
        server.close()


def test_a_closed_server_frees_its_port() -> None:
    first = Server(hello, host="127.0.0.1", port=0)
    first.start()
    port = first.port
    first.close()
    second = Server(hello, host="127.0.0.1", port=port)
    second.start()
    second.close()
