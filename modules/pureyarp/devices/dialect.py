"""How one family of control boards is spoken to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from pureyarp.devices.request import Request
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element, WireFamily


class NotInDialect(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """A control board of this family cannot be asked for this."""


class RequestRefused(NetworkError):  # noqa: N818
    """A control board answers that it will not, or cannot; carries its answer."""


class RequestLine(Protocol):
    """By which requests are sent."""

    def ask(self, items: list[Element]) -> list[Element]:
        """Send a request and return the reply, or raise PeerUnreachable."""

    def ask_bytes(self, items: list[Element]) -> bytes:
        """Send a request and return the bytes of the reply, or raise PeerUnreachable."""


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
    def check_protocol(self, line: RequestLine) -> None:
        """Ask a board which version of the protocol it speaks; raise RequestRefused if it is another one."""

    @abstractmethod
    def introduce(self, line: RequestLine) -> None:
        """Ask a board what else a client asks after the number of axes; raise RequestRefused if it will not say."""
