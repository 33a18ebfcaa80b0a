"""Ports whose owners read and write their messages one by one."""

from __future__ import annotations

import contextlib

from pureyarp.data.streams import Portable
from pureyarp.errors import MalformedMessage
from pureyarp.network.contactable import Contactable
from pureyarp.network.incoming_message import IncomingMessage
from pureyarp.network.log import log
from pureyarp.network.message_objects import (
    Reads,
    Writes,
    encoded_reply,
    read_object,
    read_reply,
    sendable,
)
from pureyarp.network.port_outputs import Reply
from pureyarp.network.rendezvous import Handover, Rendezvous
from pureyarp.network.transferable import Sent


class UnbufferedContactable(Contactable):
    """Nothing is buffered: senders are acknowledged when their message has been read, writing ends when it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._rendezvous = Rendezvous()
        self._rendezvous.stop()  # until the port opens
        self._unanswered: Handover | None = None
        self._timeout: float | None = None
        self._writes_in_background = False

    def read(self, reader: Reads, willReply: bool = False) -> bool:
        """Wait for a message and fill ``reader``; False when interrupted or closed.

        With ``willReply`` the sender waits until `reply`. What is no message for ``reader`` is logged and left out.
        """
        self._finish_unanswered()
        while (handover := self._rendezvous.take()) is not None:
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
        return self._rendezvous.hand_over(message)

    def _finish_unanswered(self) -> None:
        handover, self._unanswered = self._unanswered, None
        if handover is not None:
            handover.finish()

    def _stop(self) -> None:
        self._rendezvous.stop()
        self._finish_unanswered()

    def _resume(self) -> None:
        self._rendezvous.restart()


class Port(UnbufferedContactable):
    """A port for any use."""

    def isOpen(self) -> bool:
        """Tell whether the port is open."""
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
    """Leave nothing of a former reply in what was to be filled."""
    if isinstance(reader, Portable):
        with contextlib.suppress(MalformedMessage):
            reader.from_wire_text("")
