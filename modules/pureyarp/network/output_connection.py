"""What every output of a port can do, whatever its carrier."""

from __future__ import annotations

from typing import Protocol

from pureyarp.network.outgoing_message import OutgoingMessage
from pureyarp.wire.carriers import Carrier
from pureyarp.wire.elements import WireFamily


class OutputConnection(Protocol):
    """A connection by which messages leave a port.

    All methods raise `PeerGone` when the peer is dead.

    Attributes:
        target: Name of the port at the other end.
        carrier: How it is spoken to.
        family: The one that its replies have shown.
        dropped: Messages that were replaced by newer ones before they could leave.
    """

    target: str
    carrier: Carrier
    family: WireFamily
    dropped: int

    def offer(self, message: OutgoingMessage) -> None:
        """Send without ever waiting; while the peer is busy, the newest message waits and replaces an older one."""

    def begin(self, message: OutgoingMessage, deadline: float | None = None) -> None:
        """Send, after waiting for the peer to take what was sent before."""

    def finish(self, deadline: float | None = None) -> None:
        """Wait until the peer has taken everything; raises `PeerStalled` at the deadline (monotonic clock, [s])."""

    def call(self, message: OutgoingMessage, deadline: float | None = None) -> bytes | str | None:
        """Send and return the peer's reply, None if it gives none; raises `PeerStalled` at the deadline."""

    def is_busy(self) -> bool:
        """Tell whether a message waits or has not been taken."""

    def is_alive(self) -> bool:
        """Tell whether the peer is still there, as far as can be seen without speaking or waiting."""

    def set_type_of_service(self, value: int) -> None:
        """Set the IP type of service."""

    def type_of_service(self) -> int:
        """Return the IP type of service."""

    def close(self) -> None:
        """Say farewell, briefly, and end the connection from any thread."""
