"""Publishes named vectors to loggers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gradiva.middleware import yarp
from gradiva.middleware.message_readers import RequestReader
from gradiva.middleware.ready_messages import send_ready
from gradiva.middleware.recurring_messages import RecurringMessages
from gradiva.middleware.vectors_collection.vectors_message import names_to_items, values_messages
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element, Vocab32, encode_vocab

_OK = encode_vocab("ok")
_FAIL = encode_vocab("fail")
_ALL = -1


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was sent last: the next message will hardly be another one.

    Attributes:
        sizes: Name and number of elements of each vector, sorted.
        version: Of the names of the elements.
        messages: Of these vectors.
    """

    sizes: list[tuple[str, int]]
    version: int
    messages: RecurringMessages


class VectorsCollectionServer:
    """Publishes ``<name>/measures:o`` and tells on ``<name>/rpc:i`` what the elements of each vector are called.

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
        if not (self._port.open(f"{self._name}/measures:o") and self._rpc.open(f"{self._name}/rpc:i")):
            self.close()
            raise NetworkError(f"the ports of {self._name} could not be opened")

    def close(self) -> None:
        """Publish no more."""
        for port in (self._rpc, self._port):
            port.interrupt()
            port.close()

    @property
    def is_heard(self) -> bool:
        """Tell whether a logger is connected."""
        return bool(self._port.getOutputCount() > 0)

    def populate_metadata(self, key: str, element_names: Sequence[str]) -> None:
        """Say what the elements of a vector are called; after the first message this begins a new version."""
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
