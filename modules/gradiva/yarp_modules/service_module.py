"""A module that does nothing but answer one kind of message by another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from gradiva.yarp_modules.command_reply import is_called, ok
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.message_header import MessageHeader
from gradiva.yarp_modules.message_ports import Message, MessageReader, MessageWriter
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.tick_schedule import present_time
from pureyarp.wire.elements import Element

_LOOK = 0.1  # [s] between two looks at whether the module stops


class Service(Protocol):
    """What a `ServiceModule` is made of.

    Attributes:
        configuration: Fingerprint of its configuration.
        answered: Requests with a result.
        refused: Requests without.
    """

    configuration: str
    answered: int
    refused: int

    def answer(self, request: Any, /) -> Message:
        """Return the reply to ``request``."""
        ...

    def refuse(self, header: MessageHeader, reason: str) -> Message:
        """Return the reply that tells why there is no result for the request of ``header``; count it."""
        ...


class ServiceModule(GradivaModule):
    """Ticks once for each message. It keeps nothing that its clients cannot give it again: it may be restarted at any
    time, and so may they, who make the connections.
    """

    REQUEST_PORT: ClassVar[str] = ""
    REPLY_PORT: ClassVar[str] = ""
    COMMANDS = ("getStatus   how many messages were answered, refused, lost",)

    def __init__(
        self, options: ModuleOptions, service: Service, messages: tuple[type, MessageCodec], period: float
    ) -> None:
        """Take the service.

        Args:
            options: How the module was started.
            service: Answers.
            messages: What is asked, and how it is packed.
            period: Within which an answer is useful, [s].
        """
        super().__init__(options, period)
        self._service = service
        self._requests: MessageReader[Message] = MessageReader(*messages)
        self._requests.on_malformed = self._refuse
        self._replies: MessageWriter[Message] = MessageWriter(messages[1])
        self._request: Message | None = None
        self._next_request = 0.0

    def open_ports(self) -> None:
        """Open the ports of requests and replies."""
        self._replies.open(self.port_name(self.REPLY_PORT))
        self._requests.open(self.port_name(self.REQUEST_PORT))

    def close_ports(self) -> None:
        """Close them."""
        self._requests.close()
        self._replies.close()

    def unblock(self) -> None:
        """Wait for no request any more."""
        self._requests.interrupt()

    def wait_for_tick(self) -> int | None:
        """Wait a moment for a request."""
        self._request = self._requests.take(_LOOK)
        self.health.state = "answering" if self._request is not None else "waiting"
        if self._request is None:
            return None
        self._next_request = present_time() + self.health.period
        return 0

    def time_left(self) -> float:
        """Return the time until the next request, if there is one each period, [s]."""
        return self._next_request - present_time() if self._request is not None else self.health.period

    def tick(self) -> bool:
        """Answer the request."""
        if self._request is not None:
            self._replies.write(self._service.answer(self._request))
        return True

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer ``getStatus``."""
        if not is_called(command[0], "getStatus"):
            return None
        service = self._service
        return ok(
            ["configuration", service.configuration],
            ["answered", service.answered],
            ["refused", service.refused],
            *self._requests.report(),
        )

    def _refuse(self, header: MessageHeader, why: str) -> None:
        """Answer what is no request here: who asked would else believe that nobody is there."""
        self._replies.write(self._service.refuse(header, why))
