"""A port that answers."""

from __future__ import annotations

from pureyarp.network.log import log
from pureyarp.network.message_objects import Reads, Writes
from pureyarp.network.port import Port, UnbufferedContactable, as_port


class RpcServer(UnbufferedContactable):
    """Any number of clients may ask; there are no connections to other ports."""

    def __init__(self) -> None:
        super().__init__()
        self.setInputMode(True)
        self.setOutputMode(False)
        self.setRpcMode(True)

    def asPort(self) -> Port:
        """Return the port behind this."""
        return as_port(self)

    def read(self, reader: Reads, willReply: bool = True) -> bool:
        """Wait for a question and fill ``reader``; unless ``willReply`` is False, the client waits until `reply`."""
        return super().read(reader, willReply)

    def write(self, writer: Writes, reader: Reads | None = None) -> bool:
        """Refuse: a server only answers."""
        log.error("%s is an RPC server: it does not write", self.getName())
        return False
