from __future__ import annotations

import gc
import socket
import struct
import threading
from typing import TYPE_CHECKING

import pytest

from simulator.controlplane.credentials import ADMIN_GROUP, User, write_kubeconfig
from simulator.controlplane.kubelet import FakeKubelets
from tests.factories import certificates
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.scenario
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.fixture
def address() -> Iterator[str]:
    """A server whose process is killed anew with each connection, before hands are shaken."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        yield f"https://{host}:{port}"
        server.shutdown(socket.SHUT_RDWR)


def _hang_up(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        connection.close()


def test_a_server_that_dies_at_the_door_is_asked_again_and_fails_no_test(
    address: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    ca = certificates.authority(tmp_path).certificate
    write_kubeconfig(kubeconfig, address, ca, User("admin", (ADMIN_GROUP,)))
    with FakeKubelets(kubeconfig) as kubelets:
        eventually(lambda: kubelets.refused > 2)
    # What Python left open is told here, and not in whichever test comes next.
    gc.collect()
