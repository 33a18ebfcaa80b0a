"""Define what this package raises; where the bindings of YARP return False, so does the public interface."""

from __future__ import annotations


class YarpError(Exception):
    """Base of all errors of this package."""


class SettingsError(YarpError):
    """A setting of the environment, ``yarp.conf``, ``auth.conf`` or a device is not valid; names it and what is."""


class NetworkError(YarpError):
    """A port, a peer or the name server does not do what it should; the message says which one."""


class MalformedMessage(NetworkError):  # noqa: N818 (it reads as the sentence it is)
    """Bytes or text are no YARP message; the error carries what was expected where."""


class FrameTooLarge(MalformedMessage):
    """A message announces more bytes than this process accepts."""


class NameServerUnreachable(NetworkError):  # noqa: N818
    """The name server does not answer; the error carries its address and where that was found."""


class PeerUnreachable(NetworkError):  # noqa: N818
    """A port that is registered does not answer."""
