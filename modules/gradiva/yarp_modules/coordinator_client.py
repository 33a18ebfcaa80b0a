"""Sends commands to the coordinator, one after the other, without waiting for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

from gradiva.middleware import Element, as_bottle, as_items, open_port, yarp
from gradiva.yarp_modules.rpc_commands import as_text

COORDINATOR = "/walking-coordinator"
"""Usual prefix of its ports."""
_REPLY_TIMEOUT = 10.0  # [s] a coordinator that hangs is given up, and the next command is sent
_FAREWELL = 1.0  # [s] for the last commands at the end
_LOGGER = logging.getLogger("gradiva.module")
TakeReply = Callable[[list[Element], list[Element] | None], None]
"""Called with a command and its reply; None without one."""


class CoordinatorClient:
    """Sends one command after the other through a port of its own, in a thread of its own.

    Args:
        name: Of the port.
        take_reply: Called in that thread; an error of it is logged.
        timeout: A reply is waited for as long, [s].
    """

    def __init__(self, name: str, take_reply: TakeReply, timeout: float = _REPLY_TIMEOUT) -> None:
        self.name = name
        self._take_reply = take_reply
        self._port = yarp.RpcClient()
        self._port.asPort().setTimeout(timeout)
        self._commands: SimpleQueue[list[Element] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def open(self) -> None:
        """Open the port and begin to send.

        Raises:
            NetworkError: The port could not be opened.
        """
        open_port(self._port, self.name)
        self._thread.start()

    @property
    def is_connected(self) -> bool:
        """Return whether the coordinator has been reached."""
        return bool(self._port.getOutputCount() > 0)

    @property
    def is_idle(self) -> bool:
        """Return whether no command is waiting to be sent."""
        return self._commands.empty()

    def send(self, *command: Element) -> None:
        """Send the items of a command; does not wait."""
        self._commands.put(list(command))

    def close(self) -> None:
        """Send the waiting commands, if they are answered within a second; then wait no longer."""
        self._commands.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=_FAREWELL)
        self._port.interrupt()
        self._port.close()

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            try:
                self._take_reply(command, self._reply_to(command))
            except Exception:  # the next command may be the emergency stop
                _LOGGER.exception("%s: the reply to %s could not be taken", self.name, as_text(command))

    def _reply_to(self, command: list[Element]) -> list[Element] | None:
        if not self.is_connected:
            return None
        reply = yarp.Bottle()
        is_answered = self._port.write(as_bottle(command), reply) and reply.size() > 0
        return list(as_items(reply)) if is_answered else None
