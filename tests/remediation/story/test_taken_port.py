"""A replica that cannot bind both of its ports holds on to neither."""

from __future__ import annotations

import socket

import pytest
import requests

from tests.remediation.site import Site


# The HTTP library leaves the socket that it could not bind to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
def test_a_taken_status_port_frees_the_webhook_too(embedded_site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        running = embedded_site.run(status={"port": taken.getsockname()[1]})
        with pytest.raises(OSError, match="in use"):
            running.app.start()
    with pytest.raises(requests.ConnectionError):
        requests.get(f"http://127.0.0.1:{running.app.webhook_port}/", timeout=2)
