"""Remember ports, their addresses, TCP port numbers and properties, for a name server."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pureyarp.errors import NetworkError
from pureyarp.network.peers import CHOOSE
from pureyarp.network.settings import Contact
from pureyarp.wire import Element, to_text


class PortNumbers:
    """Counts from ``first`` to ``last``; every name gets its former number back as long as no other name has it.

    Only when the counter has reached the end, numbers that were in use when their turn came, and then those whose names
    are no longer registered, go to others, the oldest first. At most ``last - first + 1`` names are remembered.
    """

    def __init__(self, first: int, last: int) -> None:
        self._next = first
        self._last = last
        self._number_of: OrderedDict[str, int] = OrderedDict()
        self._passed_over: dict[int, None] = {}  # in use when their turn came, the first passed over first

    def take(self, name: str, used: Container[int]) -> int | None:
        """Return a number for ``name`` that is not among the ``used`` ones, None if there is none left."""
        former = self._number_of.get(name)
        if former is not None and former not in used:
            self._number_of.move_to_end(name)
            return former
        if former is not None:
            self._passed_over[former] = None
        number = self._fresh(used)
        if number is None:
            number = self._abandoned(used)
        if number is not None:
            self._number_of[name] = number
            self._number_of.move_to_end(name)
        return number

    def _fresh(self, used: Container[int]) -> int | None:
        while self._next <= self._last:
            number = self._next
            self._next += 1
            if number not in used:
                return number
            self._passed_over[number] = None
        return None

    def _abandoned(self, used: Container[int]) -> int | None:
        for number in self._passed_over:
            if number not in used:
                del self._passed_over[number]
                return number
        for name, number in self._number_of.items():
            if number not in used:
                del self._number_of[name]
                return number
        return None


class FreeNumbers:
    """Counts from ``first``; numbers that were given back are handed out again, the smallest first."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._candidate = first  # nothing below it is free
        self._taken: set[int] = set()

    def take(self) -> int:
        """Return the smallest number that is not taken."""
        number = self._candidate
        while number in self._taken:
            number += 1
        self._taken.add(number)
        self._candidate = number + 1
        return number

    def give_back(self, number: int) -> None:
        """Let a number be taken again."""
        self._taken.discard(number)
        if number >= self._first:
            self._candidate = min(self._candidate, number)


ANONYMOUS = "/tmp/port/"
MULTICAST = "mcast"
OWNED = "owns"  # property: names that are unregistered together with their owner
FALLBACK = Contact("fallback", MULTICAST, "224.2.1.1", 10000)

_FIRST_OFFSET = 2  # from the name server's own TCP port
_LAST_OFFSET = 9999
_LAST_PORT = 65535
_FIRST_GROUP = 3  # 224.1.1.3
_GROUPS_A_BYTE = 256

IsListened = Callable[[str, int], bool]
"""Returns whether something listens at a host and TCP port; False where that cannot be found out."""


class RefusedRegistration(NetworkError):  # noqa: N818
    """The registry does not take a name, an address or a property; carries why."""


@dataclass(frozen=True, slots=True)
class RegistryLimits:
    """Bounds of what a registry remembers.

    Attributes:
        most_names: Registered at a time.
        longest_name: Characters of a name or of a property's key.
        most_properties: Of one name.
        longest_value: Characters of all values of a property, as text.
        most_characters: Of the values of all properties of all names.
    """

    most_names: int = 10_000
    longest_name: int = 255
    most_properties: int = 64
    longest_value: int = 4096
    most_characters: int = 4_000_000


@dataclass(slots=True)
class _Registration:
    contact: Contact
    properties: dict[str, list[Element]] = field(default_factory=dict)
    characters: dict[str, int] = field(default_factory=dict)  # of each property's values


@dataclass(frozen=True, slots=True)
class _UsedNumbers:
    """Contains the TCP port numbers that a name cannot get: those of others, and those that are listened on.

    Attributes:
        registered: Numbers of all other names.
        own: Number at which the name is registered; its own port may listen there. None if it is not registered.
        is_listened: Whether a number is listened on where the name's port is to be.
    """

    registered: frozenset[int]
    own: int | None
    is_listened: Callable[[int], bool]

    def __contains__(self, number: object) -> bool:
        return number in self.registered or (
            isinstance(number, int) and number != self.own and self.is_listened(number)
        )


class NameRegistry:
    """Remembers ports; safe to use from several threads.

    Args:
        own: Name and address of the name server itself, which is always registered.
        limits: How much is remembered.
        on_change: Called with True and the name after a registration, with False after its end.
        is_listened: Asked before a number is handed out; by default nothing listens anywhere.
    """

    def __init__(
        self,
        own: Contact,
        limits: RegistryLimits | None = None,
        on_change: Callable[[bool, str], None] | None = None,
        is_listened: IsListened | None = None,
    ) -> None:
        self._limits = limits or RegistryLimits()
        self._on_change = on_change or (lambda is_there, name: None)
        self._is_listened = is_listened or (lambda host, number: False)
        self._lock = threading.RLock()
        self._permanent = {own.getRegName(), FALLBACK.getRegName()}
        self._registrations = {contact.getRegName(): _Registration(contact) for contact in (own, FALLBACK)}
        last = min(own.getPort() + _LAST_OFFSET, _LAST_PORT)
        self._port_numbers = PortNumbers(own.getPort() + _FIRST_OFFSET, last)
        self._anonymous_numbers = FreeNumbers(1)
        self._groups = FreeNumbers(_FIRST_GROUP)
        self._characters = 0

    def register(self, name: str, carrier: str, host: str, port: int | None, requester: str) -> Contact:
        """Register a name and return its contact.

        Args:
            name: ``...`` or empty for an anonymous one, ``=tail`` for an anonymous one with this tail.
            carrier: ``...`` for tcp.
            host: ``...`` for the requester's, or for a free group of a multicast.
            port: None for the name's former number, or the next one; never one on which another port listens.
            requester: Host that the request came from.
        """
        with self._lock:
            if name in self._permanent:
                return self._registrations[name].contact
            self._refuse_unless_there_is_room(name)
            if port is not None and not 0 < port <= _LAST_PORT:
                raise RefusedRegistration(f"{port} is no TCP port")
            chosen_name = self._name(name)
            former = self._registrations.get(chosen_name)
            if former is not None:
                self._give_group_back(former.contact)
            contact = self._contact(chosen_name, carrier, host, port, requester)
            self._registrations[chosen_name] = replace(former, contact=contact) if former else _Registration(contact)
        self._on_change(True, chosen_name)
        return contact

    def unregister(self, name: str) -> bool:
        """Forget a name and the names that it owns; return whether it was known."""
        owned = self._forget(name)
        waiting = owned or []
        while waiting:  # what is owned may own others
            waiting = [further for one in waiting for further in self._forget(one) or []]
        return owned is not None

    def query(self, name: str) -> Contact | None:
        """Return a registered port, None if there is none of this name."""
        with self._lock:
            registration = self._registrations.get(name)
            return registration.contact if registration else None

    def contacts(self, prefix: str = "") -> list[Contact]:
        """Return the ports called ``prefix`` or ``prefix/…``, all without a prefix, sorted by name."""
        with self._lock:
            names = sorted(self._registrations)
            kept = [name for name in names if not prefix or name == prefix or name.startswith(f"{prefix.rstrip('/')}/")]
            return [self._registrations[name].contact for name in kept]

    def set_property(self, name: str, key: str, values: Sequence[Element]) -> list[Element] | None:
        """Set a property; return its values, sorted as text, or None if the port is not known."""
        distinct = {text_of(value): value for value in values}
        ordered = [distinct[text] for text in sorted(distinct)]
        with self._lock:
            registration = self._registrations.get(name)
            if registration is None:
                return None
            self._refuse_long(key, "property")
            self._make_room(registration, key, sum(map(len, distinct)))
            registration.properties[key] = ordered
            return list(ordered)

    def property(self, name: str, key: str) -> list[Element] | None:
        """Return the values of a property, empty if it is not set, or None if the port is not known."""
        with self._lock:
            registration = self._registrations.get(name)
            return list(registration.properties.get(key, [])) if registration else None

    def _make_room(self, registration: _Registration, key: str, characters: int) -> None:
        """Count the characters of a property, or refuse it."""
        limits, others = self._limits, self._characters - registration.characters.get(key, 0)
        if characters > limits.longest_value:
            raise RefusedRegistration(f"property longer than {limits.longest_value} characters")
        if key not in registration.properties and len(registration.properties) >= limits.most_properties:
            raise RefusedRegistration(f"more than {limits.most_properties} properties")
        if others + characters > limits.most_characters:
            raise RefusedRegistration(f"more than {limits.most_characters} characters in all properties")
        registration.characters[key] = characters
        self._characters = others + characters

    def _forget(self, name: str) -> list[str] | None:
        """Forget one name and return those that it owns; None if it was not known."""
        with self._lock:
            if name in self._permanent or name not in self._registrations:
                return None
            registration = self._registrations.pop(name)
            self._characters -= sum(registration.characters.values())
            self._give_group_back(registration.contact)
            self._give_name_back(name)
        self._on_change(False, name)
        return [str(owned) for owned in registration.properties.get(OWNED, [])]

    def _name(self, name: str) -> str:
        if name not in ("", CHOOSE) and not name.startswith("="):
            return name
        tail = name if name.startswith("=") else ""
        while True:  # a port may have registered the name that would be next
            chosen = f"{ANONYMOUS}{self._anonymous_numbers.take()}{tail}"
            if chosen not in self._registrations:
                return chosen

    def _contact(self, name: str, carrier: str, host: str, port: int | None, requester: str) -> Contact:
        carrier = "tcp" if carrier == CHOOSE else carrier
        if port is None:
            port = self._port_numbers.take(name, self._used_numbers(name, requester if host == CHOOSE else host))
        if port is None:
            self._give_name_back(name)
            raise RefusedRegistration("no port number is left")
        if host == CHOOSE:
            host = self._group() if carrier == MULTICAST else requester
        return Contact(name, carrier, host, port)

    def _used_numbers(self, name: str, host: str) -> _UsedNumbers:
        former = self._registrations.get(name)
        numbers = {entry.contact.getPort() for other, entry in self._registrations.items() if other != name}
        own = former.contact.getPort() if former else None
        return _UsedNumbers(frozenset(numbers), own, partial(self._is_listened, host))

    def _group(self) -> str:
        number = self._groups.take()
        return f"224.1.{1 + number // _GROUPS_A_BYTE}.{number % _GROUPS_A_BYTE}"

    def _give_group_back(self, contact: Contact) -> None:
        parts = contact.getHost().split(".")
        if contact.getCarrier() == MULTICAST and len(parts) == 4 and all(part.isdecimal() for part in parts):
            self._groups.give_back((int(parts[2]) - 1) * _GROUPS_A_BYTE + int(parts[3]))

    def _give_name_back(self, name: str) -> None:
        number = name.removeprefix(ANONYMOUS).partition("=")[0]
        if name.startswith(ANONYMOUS) and number.isdecimal():
            self._anonymous_numbers.give_back(int(number))

    def _refuse_unless_there_is_room(self, name: str) -> None:
        self._refuse_long(name, "name")
        if name not in self._registrations and len(self._registrations) >= self._limits.most_names:
            raise RefusedRegistration(f"{self._limits.most_names} names are registered, no more are taken")

    def _refuse_long(self, text: str, what: str) -> None:
        if len(text) > self._limits.longest_name:
            raise RefusedRegistration(f"{what} longer than {self._limits.longest_name} characters")
        if any(character.isspace() or not character.isprintable() for character in text):
            raise RefusedRegistration(f"{what} with blanks or control characters")


def text_of(value: Element) -> str:
    """Return a property's value as a word: a string as it is unless it would break a line, else as Bottle text."""
    return value if isinstance(value, str) and value.isprintable() else to_text([value])
