"""What a connection that brings messages asks of its port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pureyarp.network.line_connection import LineProtocol
from pureyarp.network.settings import NetworkSettings
from pureyarp.network.transferable import Sent
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.binary import PortCommand

if TYPE_CHECKING:
    from pureyarp.network.input_connection import InputConnection


class InputOwner(Protocol):
    """The port that a connection belongs to.

    Attributes:
        settings: Of the network.
        name: Of the port.
        only_stores: Whether data is but stored, at once and by no code of a user's.
        complaint: Says what peers do wrong.
    """

    settings: NetworkSettings
    name: str
    only_stores: bool
    complaint: RateLimitedLog

    @property
    def port_number(self) -> int:
        """Return the TCP port where it listens."""

    def line_protocol(self, header: bytes) -> LineProtocol | None:
        """Return who serves connections that begin with these 8 bytes, None for YARP's carriers."""

    def introduced(self, connection: InputConnection) -> None:
        """Take notice of who is at the other end."""

    def handle(self, command: PortCommand, payload: bytes | str, connection: InputConnection) -> Sent | None:
        """Do what a message wants and return the reply."""

    def forget(self, connection: InputConnection) -> None:
        """Drop a connection that has ended."""
