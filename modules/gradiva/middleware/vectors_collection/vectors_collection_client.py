"""Receives named vectors for a logger."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_items, fill_bottle
from gradiva.middleware.vectors_collection.vectors_message import names_from_items, values_from_items
from pureyarp.errors import MalformedMessage, NetworkError, PeerUnreachable
from pureyarp.wire.elements import Element, PlainList, encode_vocab

_log = logging.getLogger("gradiva.yarp")

_ANSWER_PATIENCE = 2.0  # [s] a source that hangs must not keep its logger from ending
_LOOK = 0.001  # [s] between two looks for a message: a read that waits holds the interpreter of the real bindings


@dataclass(frozen=True, slots=True)
class VectorsSample:
    """One message.

    Attributes:
        vectors: Values by name.
        time: When they were sent, [s]; None if the sender does not say.
        version: Of the names of their elements.
        number: Of the message, counted by the sender; None if the sender does not say.
    """

    vectors: dict[str, list[float]]
    time: float | None
    version: int
    number: int | None = None


class VectorsCollectionClient:
    """Receives every message of a `VectorsCollectionServer`, and what its elements are called."""

    def __init__(self, remote: str, local: str, carrier: str = "tcp") -> None:
        """Prepare; `open` begins to receive.

        Args:
            remote: Beginning of the names of the server's ports.
            local: Beginning of the names of this client's ports.
            carrier: Of the values; the names travel by tcp.
        """
        self._remote = remote
        self._local = local
        self._carrier = carrier
        self._port = yarp.BufferedPortBottle()
        self._rpc = yarp.Port()
        self._rpc.setTimeout(_ANSWER_PATIENCE)
        self._names: dict[str, list[str]] = {}
        self._version = -1

    def open(self, should_connect: bool = True) -> None:
        """Open ports and connect; raise NetworkError and leave nothing open if that fails.

        Args:
            should_connect: Whether to connect; where not, others make the `connections`, as often as it takes.
        """
        try:
            self._open_ports()
            if should_connect:
                self._connect()
        except NetworkError:
            self.close()
            raise

    def close(self) -> None:
        """Receive no more; `read` returns None at once."""
        for port in (self._port, self._rpc):
            port.interrupt()
            port.close()

    @property
    def connections(self) -> list[tuple[str, str, str]]:
        """Source, destination and carrier of the connections that it needs."""
        return [
            (f"{self._remote}/measures:o", f"{self._local}/measures:i", self._carrier),
            (f"{self._local}/rpc:o", f"{self._remote}/rpc:i", "tcp"),
        ]

    def forget_names(self) -> None:
        """Ask for all names again, as after a restart of the server, which counts its versions from zero."""
        self._names = {}
        self._version = -1

    def are_metadata_ready(self) -> bool:
        """Ask whether the server has said all that its first message needs."""
        return self._ask(["areMetadataReady"]) == [encode_vocab("ok")]

    def element_names(self) -> dict[str, list[str]]:
        """Return what the elements of each vector are called; those that are not known yet are asked for."""
        names, version = names_from_items(self._ask(["getMetadataIncremental", self._version]))
        self._names.update(names)
        self._version = version
        return dict(self._names)

    def read(self, timeout: float = 0.0) -> VectorsSample | None:
        """Return the oldest message that was not read; None if none comes within ``timeout`` [s]."""
        deadline = time.monotonic() + timeout
        while (message := self._port.read(False)) is None and time.monotonic() < deadline:
            time.sleep(_LOOK)
        if message is None:
            return None
        stamp = yarp.Stamp()
        stamped = self._port.getEnvelope(stamp) and stamp.isValid()
        try:
            vectors, version = values_from_items(as_items(message))
        except MalformedMessage as error:
            _log.error("%s was sent no vectors: %s", self._local, error)
            return None
        if not stamped:
            return VectorsSample(vectors, None, version)
        return VectorsSample(vectors, stamp.getTime(), version, stamp.getCount())

    def _open_ports(self) -> None:
        self._port.setStrict(True)
        opened = self._port.open(f"{self._local}/measures:i") and self._rpc.open(f"{self._local}/rpc:o")
        if not opened:
            raise NetworkError(f"the ports of {self._local} could not be opened")

    def _connect(self) -> None:
        if not all(yarp.Network.connect(*connection) for connection in self.connections):
            raise PeerUnreachable(f"problem connecting to {self._remote}, is it running?")

    def _ask(self, question: list[Element]) -> list[Element]:
        request, reply = yarp.Bottle(), yarp.Bottle()
        fill_bottle(request, PlainList(question))
        if not self._rpc.write(request, reply):
            raise PeerUnreachable(f"{self._remote} does not answer {question}")
        return as_items(reply)
