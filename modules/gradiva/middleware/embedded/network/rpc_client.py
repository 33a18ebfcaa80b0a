"""A port that asks."""

from __future__ import annotations

from gradiva.middleware.embedded.network.log import log
from gradiva.middleware.embedded.network.message_objects import Reads
from gradiva.middleware.embedded.network.port import Port


class RpcClient(Port):
    """Connected to one server at most; ``write(question, answer)`` waits for the answer.

    With `setTimeout`, an answer that comes too late is left out and the connection stays usable.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setInputMode(False)
        self.setOutputMode(True)
        self.setRpcMode(True)

    def asPort(self) -> Port:
        """Return this as a port."""
        return self

    def read(self, reader: Reads, willReply: bool = False) -> bool:
        """Refuse: a client is not asked."""
        log.error("%s is an RPC client: it does not read", self.getName())
        return False
