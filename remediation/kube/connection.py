"""The one client: where the API server is, who we are, and how long a call may take."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kubernetes import client, config
from kubernetes.config.incluster_config import InClusterConfigLoader

from daemon.secrets import SecretFile, SecretUnreadable
from remediation.ports import CallFailed, FailureReason

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
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
    def site(self) -> Any:
        """Kinds of the site's own, which its settings name and its own roles grant."""
        return client.CustomObjectsApi(self.api)

    @property
    def groups(self) -> Any:
        """Which groups of kinds the server offers; everybody may ask."""
        return client.ApisApi(self.api)

    @property
    def kinds(self) -> Any:
        """Which kinds a group has; everybody may ask."""
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
        return replace(self, timeout_seconds=timeout_seconds)

    def apart(self) -> Connection:
        """Return the same with sockets of its own: no call meets one that others left dead."""
        return replace(self, api=_client(self.api.configuration))

    def close(self) -> None:
        """Free the sockets."""
        self.api.close()
        self.api.rest_client.pool_manager.clear()


def connect(
    *,
    kubeconfig: Path | None,
    namespace: str,
    timeout_seconds: float,
    account: Path = SERVICE_ACCOUNT,
) -> Connection:
    """Configure a client from a kubeconfig, or from the `account` of the pod it runs in.

    Nothing is sent yet.  Raises `CallFailed`.
    """
    settings = client.Configuration()
    # urllib3 would send GET, PUT and DELETE again three times, each with the whole
    # time-out: longer than a lease lives.  What is worth repeating, the next tick repeats.
    settings.retries = False
    settings.connection_pool_maxsize = _SOCKETS
    try:
        if kubeconfig is None:
            _load_account(settings, account)
        else:
            config.load_kube_config(str(kubeconfig), client_configuration=settings)
    except (config.ConfigException, OSError) as error:
        where = kubeconfig if kubeconfig is not None else "in-cluster service account"
        raise CallFailed(f"{where}: {error}", FailureReason.UNAUTHORIZED) from error
    return Connection(_client(settings), namespace, timeout_seconds)


def _client(settings: Any) -> Any:
    api = client.ApiClient(settings)
    api.user_agent = "forewarn-remediation"
    return api


def _load_account(settings: Any, account: Path) -> None:
    """Let every call carry the token that is on disk then.

    The client's own way reads it once a minute of the wall clock, which can be
    set back, and ends in an exception while the file is empty.
    """
    token = SecretFile(account / "token")
    loader = InClusterConfigLoader(
        token_filename=str(token.path), cert_filename=str(account / "ca.crt")
    )
    loader.load_and_set(settings)

    def refresh(current: Any) -> None:
        with suppress(SecretUnreadable):  # in the middle of a swap: the last one is still good
            current.api_key["BearerToken"] = f"bearer {token.read()}"

    settings.refresh_api_key_hook = refresh
