"""What can go wrong between processes."""

from __future__ import annotations

from gradiva.common import WalkingError


class MiddlewareError(WalkingError):
    """A port, a peer or the name server does not do what it should; carries which one."""


class MalformedMessage(MiddlewareError):  # noqa: N818 (it reads as the sentence it is)
    """Bytes or text that are no YARP message; carries what was expected where."""


class FrameTooLarge(MalformedMessage):
    """A message announces more bytes than this process accepts."""


class NameServerUnreachable(MiddlewareError):  # noqa: N818
    """Nobody answers at the name server's address; carries the address and where it was found."""


class PeerUnreachable(MiddlewareError):  # noqa: N818
    """A port that is registered does not answer."""
