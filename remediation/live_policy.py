"""The policy in force: that of the settings file, followed while the service runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from daemon.lifecycle import FileWatch
from daemon.settings import SettingsError, load
from remediation.settings import Settings

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

    from remediation.catalog import Catalog
    from remediation.policy.bounds.limits import Policy

_LOOK_SECONDS = 1.0


class LivePolicy:
    """The policy of the file at `path`, which began as `settings`; `changed` is told of each."""

    def __init__(
        self,
        settings: Settings,
        path: Path,
        catalog: Catalog,
        log: FilteringBoundLogger,
        *,
        changed: Callable[[], None],
    ) -> None:
        self.policy: Policy = settings.policy
        self._settings = settings
        self._path = path
        self._catalog = catalog
        self._log = log
        self._changed = changed

    def reload(self) -> None:
        """Take the policy of the settings file; a bad file changes nothing and says so."""
        try:
            fresh = load(self._path, Settings)
        except SettingsError as error:
            self._catalog.reload_success.set(0)
            self._log.error("settings not reloaded", error=str(error))
            return
        self._catalog.reload_success.set(1)
        needs_restart = _without_policy(fresh) != _without_policy(self._settings)
        self.policy = fresh.policy
        self._log.info("policy reloaded", mode=fresh.policy.mode.value, needs_restart=needs_restart)
        self._changed()

    def watch(self, stop: threading.Event, reload: threading.Event) -> None:
        """Reload when asked or when the file changes, until `stop`."""
        files = FileWatch([self._path])
        while not stop.wait(_LOOK_SECONDS):
            if files.changed() or reload.is_set():
                reload.clear()
                self.reload()


def _without_policy(settings: Settings) -> Settings:
    return replace(settings, policy=Settings().policy)
