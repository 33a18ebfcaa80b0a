"""Offer ports to their owners: Port, RpcServer, RpcClient, and what all ports have in common."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Mapping
from typing import Protocol

from pureyarp.data import ConnectionReader, ConnectionWriter, Portable, line_of
from pureyarp.errors import MalformedMessage, NetworkError
from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.outputs import OutputConnection, Reply
from pureyarp.network.peers import ADMINISTRATOR
from pureyarp.network.port_core import PortCore
from pureyarp.network.registrations import has_begun
from pureyarp.network.settings import Contact, log
from pureyarp.wire import Sent, WireFamily, encoded, encoded_text, items_of_reply, to_text


class Reads(Protocol):
    """A Bottle, a Vector, ..., or a PortReader of the user's."""

    def read(self, reader: ConnectionReader, /) -> bool:
        """Read one message."""


class Writes(Protocol):
    """A Bottle, a Vector, ..., or an object of the user's that writes itself."""

    def write(self, writer: ConnectionWriter, /) -> bool:
        """Write one message."""


def read_object(reader: Reads, message: IncomingMessage) -> bool:
    """Fill an object from a message; raises `MalformedMessage` if it is none of its kind."""
    if isinstance(reader, Portable):
        message.read_into(reader)
        return True
    return reader.read(ConnectionReader(message.payload, message.source.family, envelope=message.envelope))


def read_reply(reader: Reads, output: OutputConnection, payload: bytes | str) -> bool:
    """Fill an object from a reply; raises `MalformedMessage` if it is none of its kind."""
    if not isinstance(reader, Portable):
        return reader.read(ConnectionReader(payload, output.family))
    if isinstance(payload, str):
        reader.from_wire_text(to_text(items_of_reply(payload)))
    else:
        output.family = reader.from_wire(payload, output.family)
    return True


def read_and_answer(reader: Reads, message: IncomingMessage, local: Contact) -> bytes | None:
    """Have a user's object read a message and return, as it travels, what it appended to the writer."""
    is_text = isinstance(message.payload, str)
    writer = ConnectionWriter(is_text, message.source.family) if message.wants_reply else None
    connection = ConnectionReader(
        message.payload,
        message.source.family,
        writer=writer,
        remote=message.source.remote,
        local=local,
        envelope=message.envelope,
    )
    reader.read(connection)
    message.source.family = connection.family
    if connection.drop_requested or (writer is not None and writer.drop_requested):
        message.source.finish()
    return None if writer is None or not writer.data else written_bytes(writer, is_text)


def written_bytes(writer: ConnectionWriter, is_text: bool) -> bytes:
    """Return what was appended to a writer as it travels."""
    if not is_text:
        return bytes(writer.data)
    return line_of(writer).replace("\n", "\r\n").encode("utf-8", "surrogateescape") + b"\r\n"


def encoded_reply(sent: Sent, message: IncomingMessage) -> bytes:
    """Return a reply as it travels back to the sender of a message."""
    return encoded_text(sent) if isinstance(message.payload, str) else encoded(sent, message.source.family)


def sendable(written: Writes) -> Sent:
    """Return what can be sent for an object of the user's; TypeError for one that does not write itself."""
    if not hasattr(written, "write"):
        raise TypeError(f"an object that can be written is expected, not {written!r}")
    return written if isinstance(written, Portable) else _WrittenByUser(written)


class _WrittenByUser:
    """Has a user's object write itself for each kind of connection."""

    def __init__(self, written: Writes) -> None:
        self._written = written

    def to_wire(self, family: WireFamily) -> bytes:
        """Return what the object writes in binary."""
        writer = ConnectionWriter(False, family)
        self._written.write(writer)
        return bytes(writer.data)

    def to_wire_text(self) -> str:
        """Return what the object writes as text."""
        writer = ConnectionWriter(True)
        self._written.write(writer)
        return line_of(writer)


class PortReader:
    """To be subclassed: `read` is called for every message, on the thread of its connection.

    Messages of several connections may be read at the same time. The sender is acknowledged, and gets what was
    appended to ``reader.getWriter()``, when `read` returns. An exception is logged and answered by
    ``[fail] "message"``.
    """

    def read(self, reader: ConnectionReader) -> bool:
        """Read one message; False says that it was none of the expected kind."""
        return False


class Contactable:
    """Opens, connects and closes a port. A method that fails returns False and logs why."""

    def __init__(self) -> None:
        self._core = PortCore(handler=self._handle)
        self._reader: Reads | None = None
        self._envelope = ""
        self._is_interrupted = False

    def open(self, name: str | Contact, registerName: bool = True) -> bool:
        """Open the port under a name, an open one anew; an empty name lets the name server make one up.

        False if the network was not initialised, the name is none or that of a living port. A contact with a TCP port
        opens it there, unknown to the name server if ``registerName`` is False.
        """
        contact = Contact(name)
        try:
            self._refuse_before_init()
            if self._core.is_open:
                self._stop()
                self._core.close()
            self.resume()
            if registerName:
                self._core.open(contact.getRegName(), contact.getPort())
            else:
                self._core.open_at(
                    Contact(contact.getRegName(), "tcp", contact.getHost() or "127.0.0.1", contact.getPort())
                )
        except (NetworkError, OSError) as error:
            log.error("cannot open the port %s: %s", contact.getRegName(), error)
            return False
        return True

    def close(self) -> None:
        """Close all connections, wake waiting readers, unregister."""
        self._stop()
        self._core.close()

    def interrupt(self) -> None:
        """Wake waiting readers; no message can be read or written until `resume`."""
        self._is_interrupted = True
        self._stop()

    def resume(self) -> None:
        """Undo `interrupt`."""
        self._is_interrupted = False
        self._resume()

    def getName(self) -> str:
        """Return the port's name, or the last one that it had or could not get; empty before."""
        return self._core.name

    def where(self) -> Contact:
        """Return the port's name and address, or those that it had last; invalid before."""
        return self._core.contact

    def addOutput(self, name: str | Contact, carrier: str = "") -> bool:
        """Connect to another port: ``/name``, ``carrier://name`` or a contact; True for the one of an RPC client."""
        destination = name.toString_c() if isinstance(name, Contact) else name
        if isinstance(name, Contact) and name.isValid():
            destination = f"{name.toURI(False)}{name.getRegName().removeprefix('/')}"
            destination = f"{carrier or name.getCarrier() or 'tcp'}:/{destination}"
        self._core.outputs.drop_dead()
        if self._core.is_rpc and self._core.outputs.named(Contact.fromString(destination).getName()) is not None:
            return True
        try:
            self._core.connect(destination, carrier)
        except NetworkError as error:
            log.error("%s: %s", self._core.name, error)
            return False
        return True

    def getInputCount(self) -> int:
        """Return how many ports are connected to this one; who administers it is none of them."""
        return sum(connection.sender != ADMINISTRATOR for connection in self._core.inputs.all())

    def getOutputCount(self) -> int:
        """Return how many connections lead from here to peers that are still there."""
        self._core.outputs.drop_dead()
        return len(self._core.outputs)

    def setEnvelope(self, envelope: Portable) -> bool:
        """Send an object, usually a Stamp, beside every message from now on."""
        self._core.envelope = envelope.to_wire_text()
        return True

    def getEnvelope(self, envelope: Portable) -> bool:
        """Fill an object with the envelope of the last message; False without one."""
        return read_envelope(self._envelope, envelope, self._core.name)

    def setInputMode(self, expectInput: bool) -> None:
        """Set whether data is taken."""
        self._core.allows_inputs = expectInput

    def setOutputMode(self, expectOutput: bool) -> None:
        """Set whether there may be connections to other ports."""
        self._core.allows_outputs = expectOutput

    def setRpcMode(self, expectRpc: bool) -> None:
        """Set whether there may be one connection to another port at most."""
        self._core.is_rpc = expectRpc

    def isWriting(self) -> bool:
        """Return whether a peer has not taken the last message."""
        return self._core.outputs.is_busy()

    def setReader(self, reader: Reads) -> None:
        """Have a PortReader called with every message, on the thread of its connection."""
        self._reader = reader
        self._core.only_stores = False

    def _handle(self, message: IncomingMessage) -> Sent | None:
        """Take a message on the thread of its connection and return the reply."""
        if self._reader is None:
            return None
        self._envelope = message.envelope
        return read_and_answer(self._reader, message, self._core.contact)

    def _refuse_before_init(self) -> None:
        if not has_begun():
            raise NetworkError("the network is not initialised: call Network.init() first")

    def _stop(self) -> None:
        """Wake waiting readers."""

    def _resume(self) -> None:
        """Let messages be waited for again."""


def read_envelope(text: str, envelope: Portable, port_name: str) -> bool:
    """Fill an object with an envelope; False for an empty one or, with a line in the log, for a malformed one."""
    if not text:
        return False
    try:
        envelope.from_wire_text(text)
    except MalformedMessage as error:
        log.warning("%s: the envelope '%s' was not read: %s", port_name, text, error)
        return False
    return True


def speak(port: Contactable, family: WireFamily) -> None:
    """Have a port that is still closed speak this family first, whatever the settings of the process say."""
    port._core.speak(family)


def open_all(ports: Mapping[str, Contactable]) -> None:
    """Open ports by their names, in this order.

    Raises:
        NetworkError: One could not be opened; the message names it, and those before it are open.
    """
    for name, port in ports.items():
        if not port.open(name):
            raise NetworkError(f"port {name} could not be opened: is it open already, or no name server there?")


PEER_CHECK_PERIOD = 0.5  # [s] after which a waiting connection looks whether its peer is still there


class Handover:
    """A message on its way from the thread of its connection to that of the port's owner and back."""

    def __init__(self, message: IncomingMessage) -> None:
        self.message = message
        self._reply: bytes | None = None
        self._done = threading.Event()

    def finish(self, reply: bytes | None = None) -> None:
        """Have the sender answered and acknowledged."""
        if not self._done.is_set():
            self._reply = reply
            self._done.set()

    def wait(self) -> bytes | None:
        """Wait until the owner has finished with the message and return its reply."""
        while not self._done.wait(PEER_CHECK_PERIOD):
            if not self.message.source.is_alive():
                raise PeerGone("the peer has gone before its message was read")
        return self._reply


class SynchronousQueue:
    """Hands messages over, one at a time, in the order of their arrival."""

    def __init__(self) -> None:
        self._waiting: deque[Handover] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False

    def hand_over(self, message: IncomingMessage) -> bytes | None:
        """Wait for the owner to read a message and return the reply; while the port is stopped, return at once."""
        handover = Handover(message)
        with self._changed:
            if self._is_stopped:
                return None
            self._waiting.append(handover)
            self._changed.notify()
        try:
            return handover.wait()
        finally:
            with self._changed:
                if handover in self._waiting:
                    self._waiting.remove(handover)

    def take(self) -> Handover | None:
        """Return the next message, waiting for it; None when reading was stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopped)
            return None if self._is_stopped else self._waiting.popleft()

    def stop(self) -> None:
        """Wake waiting readers; until `restart`, nothing is handed over."""
        with self._changed:
            self._is_stopped = True
            for handover in self._waiting:
                handover.finish()
            self._waiting.clear()
            self._changed.notify_all()

    def restart(self) -> None:
        """Hand messages over again."""
        with self._changed:
            self._is_stopped = False


class UnbufferedContactable(Contactable):
    """Nothing is buffered: senders are acknowledged when their message has been read, writing ends when it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._handovers = SynchronousQueue()
        self._handovers.stop()  # until the port opens
        self._unanswered: Handover | None = None
        self._timeout: float | None = None
        self._writes_in_background = False

    def read(self, reader: Reads, willReply: bool = False) -> bool:
        """Wait for a message and fill ``reader``; False when interrupted or closed.

        With ``willReply`` the sender waits until `reply`. What is no message for ``reader`` is logged and left out.
        """
        self._finish_unanswered()
        while (handover := self._handovers.take()) is not None:
            self._envelope = handover.message.envelope
            is_read = self._read_message(reader, handover.message)
            if is_read and willReply:
                self._unanswered = handover
                return True
            handover.finish()
            if is_read or not isinstance(reader, Portable):
                return is_read
        return False

    def reply(self, writer: Writes) -> bool:
        """Answer the message that was read with ``willReply``; False if there is none."""
        handover, self._unanswered = self._unanswered, None
        if handover is None:
            log.error("%s: there is no message to reply to", self._core.name)
            return False
        handover.finish(encoded_reply(sendable(writer), handover.message))
        return True

    def replyAndDrop(self, writer: Writes) -> bool:
        """Answer as `reply` does and end the connection."""
        if self._unanswered is not None:
            self._unanswered.message.source.finish()
        return self.reply(writer)

    def write(self, writer: Writes, reader: Reads | None = None) -> bool:
        """Send to all connected ports and wait until they have taken it.

        With ``reader`` each one is asked for a reply, and ``reader`` filled with it. False if a peer turned out to be
        dead (its connection is dropped) or too slow, if a reply was asked for and none came (``reader`` is empty then),
        or if the port is interrupted. A closed port has no reader, so nothing remains to be sent: True.
        """
        sent = sendable(writer)
        if self._is_interrupted:
            log.error("%s: cannot write: it is interrupted", self._core.name)
            return False
        if not self._core.is_open and reader is None:
            return True
        try:
            return self._send(sent) if reader is None else self._call(sent, reader)
        except MalformedMessage as error:
            log.error("%s: cannot write: %s", self._core.name, error)
            return False

    def _send(self, sent: Sent) -> bool:
        if self._writes_in_background:
            return self._core.offer(sent)
        return self._core.send(sent, self._timeout)

    def _call(self, sent: Sent, reader: Reads) -> bool:
        if not self._core.has_outputs:
            log.error("%s: cannot ask: it is not connected to any port", self._core.name)
            return False
        is_sent, replies = self._core.call(sent, self._timeout)
        if not replies:
            log.error("%s: no reply came", self._core.name)
            _empty(reader)
        return is_sent and bool(replies) and all(self._read_reply(reader, reply) for reply in replies)

    def _read_reply(self, reader: Reads, reply: Reply) -> bool:
        output, payload = reply
        try:
            return read_reply(reader, output, payload)
        except MalformedMessage as error:
            log.warning("%s: the reply of %s was not read: %s", self._core.name, output.target, error)
            return False

    def _read_message(self, reader: Reads, message: IncomingMessage) -> bool:
        try:
            return read_object(reader, message)
        except MalformedMessage as error:
            log.warning("%s: a message from %s was not read: %s", self._core.name, message.source.sender, error)
            return False

    def _handle(self, message: IncomingMessage) -> Sent | None:
        if self._reader is not None:
            return super()._handle(message)
        return self._handovers.hand_over(message)

    def _finish_unanswered(self) -> None:
        handover, self._unanswered = self._unanswered, None
        if handover is not None:
            handover.finish()

    def _stop(self) -> None:
        self._handovers.stop()
        self._finish_unanswered()

    def _resume(self) -> None:
        self._handovers.restart()


class Port(UnbufferedContactable):
    """A port for any use."""

    def isOpen(self) -> bool:
        """Return whether the port is open."""
        return self._core.is_open

    def setTimeout(self, timeout: float) -> bool:
        """Give up writing and waiting for replies after this time, [s]; negative: never."""
        self._timeout = timeout if timeout >= 0 else None
        return True

    def enableBackgroundWrite(self, backgroundFlag: bool) -> None:
        """Let `write` return at once; to a peer that is busy, the newest message is sent when it is ready."""
        self._writes_in_background = backgroundFlag


def as_port(contactable: UnbufferedContactable) -> Port:
    """Return the same port, with what only a `Port` offers."""
    port = Port.__new__(Port)
    port.__dict__ = contactable.__dict__
    return port


def _empty(reader: Reads) -> None:
    """Empty the object that a reply should have filled."""
    if isinstance(reader, Portable):
        with contextlib.suppress(MalformedMessage):
            reader.from_wire_text("")


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
