"""Keep the subscriptions of a name server: connections that it makes whenever both ports are there, and topics."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pureyarp.errors import NetworkError
from pureyarp.network.settings import Contact, log
from pureyarp.wire import Element

TOPIC = "topic"  # as the carrier of a name: that of a topic
END_WITH_SOURCE, END_WITH_DESTINATION = "from", "to"  # modes; any other one lasts until it is unsubscribed
_MOST = 500  # subscriptions and topics


@dataclass(frozen=True, slots=True)
class Subscription:
    """A connection that is to be there whenever its ports are.

    Attributes:
        source: Name of a port or a topic, as it was given, perhaps with a carrier: ``topic://joints``.
        destination: The same of the other end; its carrier is the connection's: ``fast_tcp://reader``.
        mode: With which port's end it ends.
    """

    source: str
    destination: str
    mode: str

    @property
    def ends(self) -> tuple[str, str]:
        """Return the names of both ends, without carriers."""
        return name_of(self.source), name_of(self.destination)


def name_of(text: str) -> str:
    """Return the name in ``carrier://name``."""
    return Contact.fromString(text).getRegName()


class Subscriptions:
    """Remembers subscriptions and topics; one thread makes the connections, so that no request waits for a port.

    Args:
        find: Returns where a port is, None if it is not registered.
        connect: Lets a port send to another one by a carrier (empty: any); raises `NetworkError`.
    """

    def __init__(self, find: Callable[[str], Contact | None], connect: Callable[[Contact, Contact, str], None]) -> None:
        self._find = find
        self._connect = connect
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], Subscription] = {}
        self._topics: dict[str, None] = {}
        self._waiting: set[tuple[str, str]] = set()  # to be connected
        self._maker = ThreadPoolExecutor(1, "yarp subscriptions")

    def add(self, source: str, destination: str, mode: str = "") -> bool:
        """Subscribe; connects at once what is there. False where there are too many."""
        subscription = Subscription(source, destination, mode)
        ends = subscription.ends
        with self._lock:
            if len(self._kept) >= _MOST:
                return False
            self._kept.pop(ends, None)
            self._kept[ends] = subscription
        for text in (source, destination):
            if Contact.fromString(text).getCarrier() == TOPIC:
                self.set_topic(name_of(text))
        for name in ends:
            self.hook_up(name)
        for end, name in zip((END_WITH_SOURCE, END_WITH_DESTINATION), ends, strict=True):
            if mode == end and self._find(name) is None:
                self.remove(*ends)
        return True

    def remove(self, source: str, destination: str) -> None:
        """Unsubscribe; the connection itself stays."""
        with self._lock:
            self._kept.pop((name_of(source), name_of(destination)), None)

    def set_topic(self, name: str) -> bool:
        """Make a name a topic: what is sent to it goes to all that subscribe to it. False where there are too many."""
        with self._lock:
            if len(self._topics) >= _MOST:
                return False
            self._topics[name] = None
            sources = [source for source, destination in self._kept if destination == name]
        for source in sources:
            self.hook_up(source)
        return True

    def remove_topic(self, name: str) -> None:
        """Let a name be no topic."""
        with self._lock:
            self._topics.pop(name, None)

    def topics(self) -> list[str]:
        """Return the topics, oldest first."""
        return list(self._topics)

    def hook_up(self, name: str) -> None:
        """Connect a port that is there now to all that it is subscribed with."""
        with self._lock:
            wanted = {pair for pair in self._connections() if name in map(name_of, pair)} - self._waiting
            self._waiting |= wanted
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            for pair in wanted:
                self._maker.submit(self._make, *pair)

    def end_with(self, name: str) -> None:
        """Forget the subscriptions that end with this port."""
        with self._lock:
            for ends, subscription in list(self._kept.items()):
                if (subscription.mode, name) in zip((END_WITH_SOURCE, END_WITH_DESTINATION), ends, strict=True):
                    del self._kept[ends]

    def items(self, name: str = "") -> list[Element]:
        """Return ``subscription (src /a) (dest /b)`` for each subscription, or those of one port, sorted."""
        with self._lock:
            known = [subscription for ends, subscription in sorted(self._kept.items()) if not name or name in ends]
            return [self._item(subscription) for subscription in known]

    def close(self) -> None:
        """Connect no more."""
        self._maker.shutdown(wait=False, cancel_futures=True)

    def _item(self, subscription: Subscription) -> list[Element]:
        item: list[Element] = ["subscription", ["src", subscription.source], ["dest", subscription.destination]]
        if subscription.mode:
            item.append(["mode", subscription.mode])
        topical = [int(name in self._topics) for name in subscription.ends]
        return [*item, ["topic", *topical]] if any(topical) else item

    def _connections(self) -> list[tuple[str, str]]:
        """Return which port is to send to which, topics left out, as both were given."""
        made = []
        for (source, destination), subscription in self._kept.items():
            if destination in self._topics:
                readers = [reader.destination for (topic, _), reader in self._kept.items() if topic == destination]
                made += [(subscription.source, reader) for reader in readers]
            elif source not in self._topics:
                made.append((subscription.source, subscription.destination))
        return made

    def _make(self, source: str, destination: str) -> None:
        with self._lock:
            self._waiting.discard((source, destination))
        sender, receiver = self._find(name_of(source)), self._find(name_of(destination))
        if sender is None or receiver is None:
            return
        try:
            self._connect(sender, receiver, Contact.fromString(destination).getCarrier())
        except NetworkError as error:
            log.info("%s is not connected to %s, as it is subscribed: %s", source, destination, error)
