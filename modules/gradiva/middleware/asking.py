"""One question to a port, without a port of one's own."""

from __future__ import annotations

from gradiva.middleware import yarp


def ask(port: str, command: yarp.Bottle, patience: float) -> yarp.Bottle | None:
    """Return the reply of a port to ``command``; None where there is none within ``patience`` [s].

    Each question has a connection of its own, so that a port that was restarted is found again.
    """
    contact, reply = yarp.Network.queryName(port), yarp.Bottle()
    if not contact.isValid() or not yarp.Network.write(contact, command, reply, False, True, patience):
        return None
    return reply
