"""What every port offers its owner."""

from __future__ import annotations

from pureyarp.data.streams import Portable
from pureyarp.errors import MalformedMessage, NetworkError
from pureyarp.network import participation
from pureyarp.network.contact import Contact
from pureyarp.network.incoming_message import IncomingMessage
from pureyarp.network.log import log
from pureyarp.network.message_objects import Reads, read_and_answer
from pureyarp.network.port_core import PortCore
from pureyarp.network.transferable import Sent
from pureyarp.wire.elements import WireFamily


class Contactable:
    """Opens, connects and closes. What cannot be done is False, with a line in the log that says why."""

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
        """Take leave of all peers, wake who waits, unregister."""
        self._stop()
        self._core.close()

    def interrupt(self) -> None:
        """Wake who waits for a message; none can be read or written until `resume`."""
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
        """Return how many connections lead here."""
        return len(self._core.inputs.all())

    def getOutputCount(self) -> int:
        """Return how many connections lead from here to peers that are still there."""
        self._core.outputs.drop_dead()
        return len(self._core.outputs)

    def setEnvelope(self, envelope: Portable) -> bool:
        """Send an object, usually a Stamp, beside every message from now on."""
        self._core.envelope = envelope.to_wire_text()
        return True

    def getEnvelope(self, envelope: Portable) -> bool:
        """Fill an object with what came beside the last message; False if nothing did."""
        return read_envelope(self._envelope, envelope, self._core.name)

    def setInputMode(self, expectInput: bool) -> None:
        """Say whether data is taken."""
        self._core.allows_inputs = expectInput

    def setOutputMode(self, expectOutput: bool) -> None:
        """Say whether there may be connections to other ports."""
        self._core.allows_outputs = expectOutput

    def setRpcMode(self, expectRpc: bool) -> None:
        """Say whether there may be one connection to another port at most."""
        self._core.is_rpc = expectRpc

    def isWriting(self) -> bool:
        """Tell whether a peer has not taken the last message."""
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
        if not participation.has_begun():
            raise NetworkError("the network is not initialised: call Network.init() first")

    def _stop(self) -> None:
        """Wake who waits for a message."""

    def _resume(self) -> None:
        """Let messages be waited for again."""


def read_envelope(text: str, envelope: Portable, port_name: str) -> bool:
    """Fill an object with what came beside a message; False if nothing did, or, with a line, if it is malformed."""
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
