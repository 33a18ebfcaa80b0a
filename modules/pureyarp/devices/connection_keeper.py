"""Makes lost connections of a device again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger("pureyarp")

_PERIOD = 0.5  # [s] between two looks
_BACK_OFF = 0.5  # [s] between two attempts
_PATIENCE = 1.0  # [s] for an attempt to end; a peer that hangs does not hold up who leaves


class ConnectionKeeper:
    """Looks whether the connections of a device live, and makes them again when they do not.

    One line in the log says that they are lost, another that they are back; the attempts in between are silent.
    """

    def __init__(
        self,
        name: str,
        is_connected: Callable[[], bool],
        reconnect: Callable[[], bool],
        period: float = _PERIOD,
        back_off: float = _BACK_OFF,
    ) -> None:
        """Keep the connections of ``name``; both functions run in the keeper's thread and do not raise."""
        self._name = name
        self._is_connected = is_connected
        self._reconnect = reconnect
        self._period = period
        self._back_off = back_off
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"keeper of {name}", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no longer; an attempt that is under way goes on until its ports are closed, then `join` returns."""
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        """Tell whether attempts are no longer wanted."""
        return self._stopped.is_set()

    def join(self) -> None:
        """Wait for the last attempt to end."""
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            try:
                if not self._is_connected():
                    self._restore()
            except Exception:  # the next look may go well, and nobody else looks
                _log.exception("%s: its connections could not be looked after", self._name)

    def _restore(self) -> None:
        _log.warning("%s is gone; trying to reach it again every %.1f s", self._name, self._back_off)
        while not self._stopped.is_set():
            if self._reconnect():
                _log.warning("%s is back", self._name)
                return
            self._stopped.wait(self._back_off)
