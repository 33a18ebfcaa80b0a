"""How one family of control boards is spoken to."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gradiva.middleware.embedded.devices.request import Request
from gradiva.middleware.embedded.wire.elements import Element
from gradiva.middleware.embedded.wire.wire_family import WireFamily
from gradiva.middleware.errors import MiddlewareError


class NotInDialect(MiddlewareError):  # noqa: N818 (it reads as the sentence it is)
    """A control board of this family cannot be asked for this."""


class RequestRefused(MiddlewareError):  # noqa: N818
    """A control board answers that it will not, or cannot; carries its answer."""


class Dialect(ABC):
    """How one family of control boards is spoken to.

    Attributes:
        family: Whose tags the messages carry.
        rpc_server: Ending of the board's RPC port.
        rpc_client: Ending of the client's RPC port.
        default_carrier: Of commands and state.
        rpc_comes_first: Whether the client opens and connects its RPC port before the two others.
    """

    family: WireFamily
    rpc_server: str
    rpc_client: str
    default_carrier: str
    rpc_comes_first: bool

    @abstractmethod
    def encode(self, request: Request) -> list[Element]:
        """Return the message for a request, or raise NotInDialect."""

    @abstractmethod
    def decode(self, request: Request, reply: list[Element]) -> list[Element]:
        """Return the values of an answer, or raise RequestRefused."""

    @abstractmethod
    def protocol_question(self) -> list[Element]:
        """Return the message that asks for the protocol's version."""
