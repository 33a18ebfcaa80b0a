"""YARP behind one door: ``from gradiva.middleware import yarp``; servers and messages are modules beside it.

Importing this room chooses no bindings yet: that is what the import of ``yarp``, and of what uses it, does.
"""

from pureyarp.errors import (
    FrameTooLarge,
    MalformedMessage,
    MiddlewareError,
    NameServerUnreachable,
    PeerUnreachable,
)

__all__ = ["FrameTooLarge", "MalformedMessage", "MiddlewareError", "NameServerUnreachable", "PeerUnreachable"]
