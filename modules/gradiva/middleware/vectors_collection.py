"""Publish and read collections of named vectors (VectorsCollection), as loggers of walking robots do."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NoReturn

from gradiva.middleware import yarp
from gradiva.middleware.bottles import RequestReader, as_items, fill_bottle, send_ready
from gradiva.middleware.network import open_port
from pureyarp.data.values import Bottle as PureBottle
from pureyarp.errors import MalformedMessage, NetworkError, PeerUnreachable
from pureyarp.wire.elements import Element, PlainList, TypedList, Vocab32, encode_vocab
from pureyarp.wire.recurring_messages import RecurringMessages


def values_to_items(vectors: Mapping[str, Sequence[float]], version: int) -> list[Element]:
    """Return the elements of a message of values: a list of (name (numbers)), sorted by name, and the version."""
    return _to_items({name: TypedList(float, map(float, values)) for name, values in vectors.items()}, version)


def values_messages(sizes: Sequence[tuple[str, int]], version: int) -> RecurringMessages:
    """Return the messages of vectors of these names and sizes, sorted by name: all their numbers in a row."""
    ends = list(accumulate(size for _, size in sizes))
    parts = {name: slice(end - size, end) for (name, size), end in zip(sizes, ends, strict=True)}
    total = ends[-1] if ends else 0
    return RecurringMessages(
        lambda numbers: values_to_items({name: numbers[part] for name, part in parts.items()}, version), total
    )


def names_to_items(vectors: Mapping[str, Sequence[str]], version: int) -> list[Element]:
    """Return the elements of a message of names: a list of (name (names)), sorted by name, and the version."""
    return _to_items({name: TypedList(str, names) for name, names in vectors.items()}, version)


def values_from_items(items: Sequence[Element]) -> tuple[dict[str, list[float]], int]:
    """Return values by name, and the version.

    Raises:
        MalformedMessage: The message is none.
    """
    entries, version = _entries(items)
    return {name: _numbers(name, listed) for name, listed in entries}, version


_VECTOR = re.compile(r'\(("[^"\\]*"|[^\s()"]+) \(([^()"]*)\)\)')


def values_from_text(text: str) -> tuple[dict[str, list[float]], int] | None:
    """Return values by name, and the version, of the text of a message; None of one that has to be taken apart.

    Each element of a Bottle of the real bindings costs several calls, so that a loaded logger would fall behind.
    """
    found = _VECTOR.findall(text)
    version = text.rpartition(" ")[2]
    entries = " ".join(f"({name} ({values}))" for name, values in found)
    if text != f"({entries}) {version}" or not version.isdecimal():
        return None
    try:
        return {name.strip('"'): list(map(float, values.split())) for name, values in found}, int(version)
    except ValueError:
        return None


def names_from_items(items: Sequence[Element]) -> tuple[dict[str, list[str]], int]:
    """Return the names of elements by the name of their vector, and the version.

    Raises:
        MalformedMessage: The message is none.
    """
    entries, version = _entries(items)
    return {name: _words(name, listed) for name, listed in entries}, version


def _to_items(vectors: Mapping[str, TypedList], version: int) -> list[Element]:
    return PlainList([PlainList([PlainList([name, vectors[name]]) for name in sorted(vectors)]), version])


def _entries(items: Sequence[Element]) -> tuple[list[tuple[str, list[Element]]], int]:
    match items:
        case [list() as entries, int() as version]:
            return [_entry(entry) for entry in entries], version
    raise MalformedMessage(f"a collection of vectors is ((name (values))...) version, not {items!r:.60}")


def _entry(element: Element) -> tuple[str, list[Element]]:
    match element:
        case [str() as name, list() as values]:
            return name, values
    raise MalformedMessage(f"a named vector is (name (values)), not {element!r:.60}")


def _numbers(name: str, values: list[Element]) -> list[float]:
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return numbers if len(numbers) == len(values) else _refuse(name, values)


def _words(name: str, values: list[Element]) -> list[str]:
    words = [value for value in values if isinstance(value, str)]
    return words if len(words) == len(values) else _refuse(name, values)


def _refuse(name: str, values: list[Element]) -> NoReturn:
    raise MalformedMessage(f"the vector {name} holds {values!r:.60}")


_OK = encode_vocab("ok")
_FAIL = encode_vocab("fail")
_ALL = -1


@dataclass(frozen=True, slots=True)
class _Sent:
    """Layout of the last message; the next one usually has the same.

    Attributes:
        sizes: Name and number of elements of each vector, sorted.
        version: Of the names of the elements.
        messages: Of these vectors.
    """

    sizes: list[tuple[str, int]]
    version: int
    messages: RecurringMessages


class VectorsCollectionServer:
    """Publishes ``<name>/measures:o`` and answers on ``<name>/rpc:i`` with the names of each vector's elements.

    The names carry a version, which every message repeats: a logger that reads a newer one asks for what was added.
    """

    def __init__(self, name: str) -> None:
        """Prepare; `open` begins to publish."""
        self._name = name
        self._port = yarp.BufferedPortBottle()
        self._rpc = yarp.Port()
        self._requests = RequestReader(self._answer)  # the bindings do not keep it alive
        self._element_names: dict[str, tuple[str, ...]] = {}
        self._added_in: dict[str, int] = {}
        self._version = 0
        self._was_sent = False
        self._naming = threading.Lock()
        self._sent: _Sent | None = None

    def __enter__(self) -> VectorsCollectionServer:
        """Open."""
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def open(self) -> None:
        """Open both ports, or raise NetworkError and leave nothing open."""
        self._rpc.setReader(self._requests)
        try:
            open_port(self._port, f"{self._name}/measures:o")
            open_port(self._rpc, f"{self._name}/rpc:i")
        except NetworkError:
            self.close()
            raise

    def close(self) -> None:
        """Publish no more."""
        for port in (self._rpc, self._port):
            port.interrupt()
            port.close()

    @property
    def is_heard(self) -> bool:
        """Return whether a logger is connected."""
        return bool(self._port.getOutputCount() > 0)

    def populate_metadata(self, key: str, element_names: Sequence[str]) -> None:
        """Name the elements of a vector; after the first message this begins a new version."""
        with self._naming:
            if self._was_sent:
                self._version += 1
            self._element_names[key] = tuple(element_names)
            self._added_in[key] = self._version

    def send(
        self, values: Mapping[str, Sequence[float]], stamp: yarp.Stamp | None = None, strict: bool = False
    ) -> None:
        """Publish vectors; raise NetworkError for one whose elements have no names, or not as many.

        Args:
            values: By name.
            stamp: When they were so; without it the last one goes with them.
            strict: Wait until all loggers have taken them; otherwise a slow one misses some.
        """
        with self._naming:
            self._was_sent = True
            version = self._version
        sizes = [(key, len(vector)) for key, vector in sorted(values.items())]
        if self._sent is None or (self._sent.sizes, self._sent.version) != (sizes, version):
            self._check(values)
            self._sent = _Sent(sizes, version, values_messages(sizes, version))
        message = self._sent.messages.message(list(chain.from_iterable(values[key] for key, _ in sizes)))
        if stamp is not None:
            self._port.setEnvelope(stamp)
        send_ready(self._port, message, strict)

    def _check(self, values: Mapping[str, Sequence[float]]) -> None:
        for key, vector in values.items():
            names = self._element_names.get(key)
            if names is None:
                raise NetworkError(f"vector {key} has no names (known: {', '.join(self._element_names)})")
            if len(names) != len(vector):
                raise NetworkError(f"vector {key} has {len(vector)} elements, but {len(names)} names")

    def _answer(self, question: list[Element]) -> list[Element]:
        match question:
            case ["getMetadata"]:
                return self._metadata(_ALL)
            case ["getMetadataIncremental", int() as version] if not isinstance(version, Vocab32):
                return self._metadata(version)
            case ["areMetadataReady"]:
                return [_OK if self._was_sent else _FAIL]
        return [_FAIL]

    def _metadata(self, after: int) -> list[Element]:
        with self._naming:
            names = {key: names for key, names in self._element_names.items() if self._added_in[key] > after}
            return names_to_items(names, self._version)


_log = logging.getLogger("gradiva.yarp")
_REPLY_TIMEOUT = 2.0  # [s] a source that hangs must not keep its logger from ending
_LOOK = 0.001  # [s] between two looks for a message: a read that waits holds the interpreter of the real bindings


def _values_in(message: yarp.Bottle) -> tuple[dict[str, list[float]], int]:
    found = None if isinstance(message, PureBottle) else values_from_text(message.toString())
    return values_from_items(as_items(message)) if found is None else found


@dataclass(frozen=True, slots=True)
class VectorsSample:
    """One message of a VectorsCollection.

    Attributes:
        vectors: Values by name.
        time: When they were sent, [s]; None if the sender does not say.
        version: Of the names of their elements.
        number: Of the message, counted by the sender; None if the sender does not say.
    """

    vectors: dict[str, list[float]]
    time: float | None
    version: int
    number: int | None = None


class VectorsCollectionClient:
    """Receives the messages of a `VectorsCollectionServer`, every one or the newest ones, and names of elements."""

    def __init__(self, remote: str, local: str, carrier: str = "tcp", keeps_all: bool = True) -> None:
        """Prepare; `open` begins to receive.

        Args:
            remote: Beginning of the names of the server's ports.
            local: Beginning of the names of this client's ports.
            carrier: Of the values; the names travel by tcp.
            keeps_all: Whether a message that was not read is kept when the next one comes.
        """
        self._keeps_all = keeps_all
        self._remote = remote
        self._local = local
        self._carrier = carrier
        self._port = yarp.BufferedPortBottle()
        self._rpc = yarp.Port()
        self._rpc.setTimeout(_REPLY_TIMEOUT)
        self._names: dict[str, list[str]] = {}
        self._version = -1

    def open(self, should_connect: bool = True) -> None:
        """Open ports and connect; raise NetworkError and leave nothing open if that fails.

        Args:
            should_connect: Whether to connect; where not, others make the `connections`, as often as it takes.
        """
        try:
            self._open_ports()
            if should_connect:
                self._connect()
        except NetworkError:
            self.close()
            raise

    def close(self) -> None:
        """Receive no more; `read` returns None at once."""
        for port in (self._port, self._rpc):
            port.interrupt()
            port.close()

    @property
    def connections(self) -> list[tuple[str, str, str]]:
        """Source, destination and carrier of the connections that it needs."""
        return [
            (f"{self._remote}/measures:o", f"{self._local}/measures:i", self._carrier),
            (f"{self._local}/rpc:o", f"{self._remote}/rpc:i", "tcp"),
        ]

    @property
    def pending(self) -> int:
        """Messages that came and were not read."""
        return int(self._port.getPendingReads())

    def forget_names(self) -> None:
        """Ask for all names again, as after a restart of the server, which counts its versions from zero."""
        self._names = {}
        self._version = -1

    def are_metadata_ready(self) -> bool:
        """Ask whether the server has said all that its first message needs."""
        return self._ask(["areMetadataReady"]) == [encode_vocab("ok")]

    def element_names(self) -> dict[str, list[str]]:
        """Return the names of the elements of each vector; those that are not known yet are asked for."""
        names, version = names_from_items(self._ask(["getMetadataIncremental", self._version]))
        self._names.update(names)
        self._version = version
        return dict(self._names)

    def read(self, timeout: float = 0.0) -> VectorsSample | None:
        """Return the oldest message that was not read; None if none comes within ``timeout`` [s]."""
        deadline = time.monotonic() + timeout
        while (message := self._port.read(False)) is None and time.monotonic() < deadline:
            time.sleep(_LOOK)
        if message is None:
            return None
        stamp = yarp.Stamp()
        stamped = self._port.getEnvelope(stamp) and stamp.isValid()
        try:
            vectors, version = _values_in(message)
        except MalformedMessage as error:
            _log.error("%s was sent no vectors: %s", self._local, error)
            return None
        if not stamped:
            return VectorsSample(vectors, None, version)
        return VectorsSample(vectors, stamp.getTime(), version, stamp.getCount())

    def _open_ports(self) -> None:
        self._port.setStrict(self._keeps_all)
        open_port(self._port, f"{self._local}/measures:i")
        open_port(self._rpc, f"{self._local}/rpc:o")

    def _connect(self) -> None:
        if not all(yarp.Network.connect(*connection) for connection in self.connections):
            raise PeerUnreachable(f"problem connecting to {self._remote}, is it running?")

    def _ask(self, question: list[Element]) -> list[Element]:
        request, reply = yarp.Bottle(), yarp.Bottle()
        fill_bottle(request, PlainList(question))
        if not self._rpc.write(request, reply):
            raise PeerUnreachable(f"{self._remote} does not answer {question}")
        return as_items(reply)
