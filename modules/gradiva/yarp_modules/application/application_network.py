"""The network as an application needs it: which ports there are, what they answer."""

from __future__ import annotations

from collections.abc import Iterable

from gradiva.middleware import Element, as_items, ask, is_there, registered_names, yarp
from gradiva.yarp_modules.rpc_commands import is_ok, word

_ANSWER_TIMEOUT = 2.0  # [s]
_GLANCE = 0.5  # [s] for what is asked every second


class ApplicationNetwork:
    """Asks ports and the name server. What does not answer is not there; nothing is raised."""

    def has(self, port: str) -> bool:
        """Tell whether a port is registered and answers."""
        return is_there(port)

    def replies(self, port: str, request: str, reply: str) -> bool:
        """Tell whether a port answers ``request``, and by ``reply`` if that is not empty."""
        answer = ask(port, yarp.Bottle(request), _ANSWER_TIMEOUT)
        return answer is not None and (not reply or answer.toString() == yarp.Bottle(reply).toString())

    def quit(self, prefix: str) -> bool:
        """Tell the module at ``prefix`` to quit; False if there is no answer."""
        return ask(f"{prefix}/rpc", yarp.Bottle("quit"), _ANSWER_TIMEOUT) is not None

    def health(self, prefix: str) -> dict[str, Element]:
        """Return what the module at ``prefix`` tells of itself; empty if it does not."""
        answer = ask(f"{prefix}/rpc", yarp.Bottle("getHealth"), _GLANCE)
        items = [] if answer is None else as_items(answer)
        if not is_ok(items):
            return {}
        return {word(pair[0]): pair[1] for pair in items[1:] if isinstance(pair, list) and len(pair) == 2}

    def names(self) -> frozenset[str]:
        """Return the names of all ports that are registered."""
        return registered_names()

    def forget_dead(self, names: Iterable[str]) -> list[str]:
        """Unregister those of ``names`` that do not answer; return which."""
        dead = [name for name in names if not is_there(name)]
        for name in dead:
            yarp.Network.unregisterName(name)
        return dead
