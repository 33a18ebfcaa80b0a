"""What every message between modules begins with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageHeader:
    """From which run of the sender a message is, and which of its messages.

    Attributes:
        session: Drawn at random when the sender begins: a restarted one is not taken for the former one.
        number: Grows with every message of a session.
        time: Of the sender's control clock, [s].
    """

    session: int
    number: int
    time: float


class Numbering:
    """Makes the headers of one run of a sender.

    Attributes:
        session: Of this run.
        number: Of the last header.
    """

    def __init__(self) -> None:
        self.session = secrets.randbits(31)
        self.number = 0

    def next(self, time: float) -> MessageHeader:
        """Return the header of a new message, ``time`` in [s]."""
        self.number += 1
        return MessageHeader(self.session, self.number, time)


class OrderCheck:
    """Tells a new message from one that was overtaken.

    Attributes:
        restarts: How often another session began.
    """

    def __init__(self) -> None:
        self._session: int | None = None
        self._number = 0
        self.restarts = 0

    def is_new(self, header: MessageHeader) -> bool:
        """Whether no later message of the same session has come before."""
        if header.session != self._session:
            self.restarts += self._session is not None
            self._session = header.session
        elif header.number <= self._number:
            return False
        self._number = header.number
        return True
