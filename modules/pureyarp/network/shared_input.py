"""A connection in the hands of the shared receiver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pureyarp.network.byte_stream import PeerStalled
from pureyarp.network.input_owner import InputOwner
from pureyarp.network.log import log
from pureyarp.network.message_channel import SharedChannel
from pureyarp.wire.binary import PortCommand

if TYPE_CHECKING:
    from pureyarp.network.input_connection import InputConnection

_LONGEST = 64 * 1024  # bytes of a message that the receiver takes the time to store


class SharedInput:
    """Stores messages without ever waiting.

    What may take time is left to a thread of the connection's own: a command to the port, a very large message, any
    message when the port has become one that does more than store.
    """

    def __init__(self, connection: InputConnection, owner: InputOwner, channel: SharedChannel) -> None:
        self._connection = connection
        self._owner = owner
        self._channel = channel
        self._postponed: tuple[PortCommand, bytes] | None = None
        self._arrived_at = 0.0  # monotonic

    @property
    def is_possible(self) -> bool:
        """Tell whether the receiver can take over: between two messages that are only stored."""
        return self._owner.only_stores and not self._channel.is_within_message

    def fileno(self) -> int:
        """Return the file descriptor of the socket that messages arrive at."""
        return self._channel.fileno()

    def take_arrived(self) -> bool:
        """Take what has arrived and store what is whole; False if the receiver is to let go of the connection."""
        return self._connection.goes_on(self._store_arrived)

    def check_patience(self) -> bool:
        """Return False if the peer has stopped in the middle of a message for too long."""
        return self._connection.goes_on(self._is_moving)

    def let_go(self) -> None:
        """End, or go on in a thread: the receiver has let go of the connection."""
        postponed, self._postponed = self._postponed, None
        try:
            if postponed is not None:
                self._connection.serve_alone(*postponed)
                return
        except RuntimeError as error:  # no further thread
            log.error("%s: connection from %s closed: %s", self._owner.name, self._connection.sender, error)
        self._connection.end()

    def _store_arrived(self) -> bool:
        self._channel.receive_at_once()
        self._arrived_at = time.monotonic()
        while (message := self._channel.arrived()) is not None:
            command, payload = message
            if not (command.is_data and self._owner.only_stores and len(payload) <= _LONGEST):
                self._postponed = message
                return False
            reply = self._owner.handle(command, payload, self._connection)
            self._channel.answer_at_once(reply, self._connection.family)
        return True

    def _is_moving(self) -> bool:
        patience = self._owner.settings.limits.stall_timeout
        if self._channel.is_within_message and time.monotonic() - self._arrived_at > patience:
            raise PeerStalled("the peer does not go on")
        return True
