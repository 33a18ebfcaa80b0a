"""A port that keeps its newest message as it came; whoever wants to know takes it apart."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pureyarp.data.streams import now
from pureyarp.network.contactable import Contactable
from pureyarp.network.incoming_message import IncomingMessage


@dataclass(frozen=True, slots=True)
class ArrivedMessage:
    """A message and when it came.

    Attributes:
        message: As it came.
        arrived_at: [s], on the clock of this process, which may be the network's.
        received_at: [s], monotonic.
    """

    message: IncomingMessage
    arrived_at: float
    received_at: float


class NewestMessagePort(Contactable):
    """Takes every message and keeps the newest; no thread is woken for it, and nothing is decoded that nobody reads.

    Attributes:
        newest: What came last; None before the first message.
    """

    def __init__(self) -> None:
        super().__init__()
        self._core.only_stores = True
        self.newest: ArrivedMessage | None = None

    def _handle(self, message: IncomingMessage) -> None:
        self.newest = ArrivedMessage(message, now(), time.monotonic())
