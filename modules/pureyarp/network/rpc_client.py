"""A port that asks."""

from __future__ import annotations

from pureyarp.network.log import log
from pureyarp.network.message_objects import Reads, Writes
from pureyarp.network.port import Port, UnbufferedContactable, as_port


class RpcClient(UnbufferedContactable):
    """Connected to one server at most; ``write(question, answer)`` waits for the answer.

    With ``asPort().setTimeout``, an answer that comes too late is left out and the connection stays usable.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setInputMode(False)
        self.setOutputMode(True)
        self.setRpcMode(True)

    def asPort(self) -> Port:
        """Return the port behind this."""
        return as_port(self)

    def write(self, writer: Writes, reader: Reads) -> bool:  # type: ignore[override]
        """Ask, and fill ``reader`` with the answer; False if none came."""
        return super().write(writer, reader)

    def read(self, reader: Reads, willReply: bool = False) -> bool:
        """Refuse: a client is not asked."""
        log.error("%s is an RPC client: it does not read", self.getName())
        return False
