"""YARP behind one door: ``from gradiva.middleware import yarp``; servers and messages are modules beside it.

Importing this room chooses no bindings yet: that is what the import of ``yarp``, and of what uses it, does.
"""

from gradiva.common import WalkingError
from pureyarp.errors import (
    FrameTooLarge,
    MalformedMessage,
    NameServerUnreachable,
    NetworkError,
    PeerUnreachable,
    SettingsError,
    YarpError,
)
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import Element, TypedList, Vocab32

NAMED_ERRORS = (WalkingError, YarpError)  # what Gradiva and what YARP report by name, without a traceback

__all__ = [
    "NAMED_ERRORS",
    "Element",
    "FrameTooLarge",
    "MalformedMessage",
    "NameServerUnreachable",
    "NetworkError",
    "PeerUnreachable",
    "RateLimitedLog",
    "SettingsError",
    "TypedList",
    "Vocab32",
    "YarpError",
]
