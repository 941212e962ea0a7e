"""The one client: where the API server is, who we are, and how long a call may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kubernetes import client, config

from remediation.ports import CallFailed, FailureReason

if TYPE_CHECKING:
    from pathlib import Path

# Watches, the lease, the webhook's threads and every lane of a burst keep one each.
_SOCKETS = 32


@dataclass(frozen=True, slots=True)
class Connection:
    """A client, the namespace of our own objects, and the time-out of every call (seconds)."""

    api: Any
    namespace: str
    timeout_seconds: float

    @property
    def core(self) -> Any:
        """Nodes, pods, config maps, events."""
        return client.CoreV1Api(self.api)

    @property
    def coordination(self) -> Any:
        """Leases."""
        return client.CoordinationV1Api(self.api)

    @property
    def custom(self) -> Any:
        """Kinds that the cluster may or may not know."""
        return client.CustomObjectsApi(self.api)

    @property
    def limits(self) -> dict[str, Any]:
        """The keyword arguments that bound every call: connecting and reading."""
        return {"_request_timeout": (self.timeout_seconds, self.timeout_seconds)}

    @property
    def raw(self) -> dict[str, Any]:
        """The same for a call whose answer is read as bytes: `.data`, which frees the socket."""
        return {**self.limits, "_preload_content": False}

    def stream(self, version: str, seconds: int) -> dict[str, Any]:
        """The keyword arguments of a watch from `version` that the server ends after `seconds`."""
        return {
            "resource_version": version,
            "timeout_seconds": seconds,
            "allow_watch_bookmarks": True,
            "_request_timeout": (self.timeout_seconds, seconds + self.timeout_seconds),
            "_preload_content": False,
        }

    def within(self, timeout_seconds: float) -> Connection:
        """Return the same client with another time-out."""
        return Connection(self.api, self.namespace, timeout_seconds)

    def close(self) -> None:
        """Free the sockets."""
        self.api.close()
        self.api.rest_client.pool_manager.clear()


def connect(*, kubeconfig: Path | None, namespace: str, timeout_seconds: float) -> Connection:
    """Configure a client from a kubeconfig, or from the pod it runs in; raises `CallFailed`.

    Nothing is sent yet.
    """
    settings = client.Configuration()
    # urllib3 would send GET, PUT and DELETE again three times, each with the whole
    # time-out: longer than a lease lives.  What is worth repeating, the next tick repeats.
    settings.retries = False
    settings.connection_pool_maxsize = _SOCKETS
    try:
        if kubeconfig is None:
            config.load_incluster_config(client_configuration=settings)
        else:
            config.load_kube_config(str(kubeconfig), client_configuration=settings)
    except (config.ConfigException, OSError) as error:
        where = kubeconfig if kubeconfig is not None else "in-cluster service account"
        raise CallFailed(f"{where}: {error}", FailureReason.UNAUTHORIZED) from error
    api = client.ApiClient(settings)
    api.user_agent = "forewarn-remediation"
    return Connection(api, namespace, timeout_seconds)
