"""The thread that calls a user's code with the messages of a buffered port."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pureyarp.network.log import log

_PATIENCE = 2.0  # [s] for a user's code to return


class CallbackThread:
    """Calls ``handle_next`` until it is stopped; ``wake`` ends its waiting.

    ``handle_next`` gets a function that tells whether the thread goes on, and waits for a message while it does.
    """

    def __init__(
        self, handle_next: Callable[[Callable[[], bool]], None], wake: Callable[[], None], port_name: Callable[[], str]
    ) -> None:
        self._handle_next = handle_next
        self._wake = wake
        self._port_name = port_name
        self._is_running = True
        self._thread = threading.Thread(target=self._run, name=f"yarp callback of {port_name()}", daemon=True)

    def start(self) -> None:
        """Begin to call."""
        self._thread.start()

    def stop(self) -> None:
        """Make this the last call; wait for its end, but not for ever, unless it is the caller."""
        self._is_running = False
        self._wake()
        if self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)
            if self._thread.is_alive():
                log.warning("%s: the callback does not return; it is left alone", self._port_name())

    def _run(self) -> None:
        while self._is_running:
            try:
                self._handle_next(lambda: self._is_running)
            except Exception:
                log.exception("%s: the callback failed", self._port_name())
