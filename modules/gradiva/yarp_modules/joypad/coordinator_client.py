"""Commands to the coordinator, without waiting for its replies."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from gradiva.middleware import Element, NetworkError, as_bottle, as_items, yarp

_REPLY_TIMEOUT = 10.0  # [s] a coordinator that hangs is given up, and the next command is sent
_FAREWELL = 1.0  # [s] for the last commands when the joypad ends

Tell = Callable[[str, list[Element] | None], None]
"""Called with a command and its reply; None where nobody answered."""


class CoordinatorClient:
    """Sends one command after the other through a port of its own, in a thread of its own.

    Args:
        name: Of the port.
        tell: Called in that thread.
    """

    def __init__(self, name: str, tell: Tell) -> None:
        self.name = name
        self._tell = tell
        self._port = yarp.RpcClient()
        self._port.asPort().setTimeout(_REPLY_TIMEOUT)
        self._commands: SimpleQueue[str | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def open(self) -> None:
        """Open the port and begin to send.

        Raises:
            NetworkError: The port could not be opened.
        """
        if not self._port.open(self.name):
            raise NetworkError(f"port {self.name} could not be opened: is this module running already?")
        self._thread.start()

    @property
    def is_connected(self) -> bool:
        """Whether the coordinator has been reached."""
        return bool(self._port.getOutputCount() > 0)

    @property
    def is_idle(self) -> bool:
        """Whether no command is waiting to be sent."""
        return self._commands.empty()

    def send(self, command: str) -> None:
        """Send a command; does not wait."""
        self._commands.put(command)

    def close(self) -> None:
        """Send what waits, if that is answered within a second; then wait no longer."""
        self._commands.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=_FAREWELL)
        self._port.interrupt()
        self._port.close()

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            self._tell(command, self._reply_to(command))

    def _reply_to(self, command: str) -> list[Element] | None:
        if not self.is_connected:
            return None
        reply = yarp.Bottle()
        is_answered = self._port.write(as_bottle([command]), reply) and reply.size() > 0
        return list(as_items(reply)) if is_answered else None
