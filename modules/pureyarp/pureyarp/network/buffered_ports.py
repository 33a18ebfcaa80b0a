"""Keep messages until they are read: buffered ports, their callbacks and queues."""

from __future__ import annotations

import inspect
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pureyarp.data import Bottle, Portable, Property, Vector, now
from pureyarp.errors import MalformedMessage
from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.ports import PEER_CHECK_PERIOD, Contactable, Reads, read_and_answer
from pureyarp.network.settings import log
from pureyarp.wire import Sent

Datum = TypeVar("Datum", bound=Portable)


class TypedReaderCallback(Generic[Datum]):
    """To be subclassed: `onRead` is called for every message, one after the other, on a thread of the port's.

    An override takes ``(datum)`` or ``(datum, reader)``, the reader being the port. An exception is logged.
    """

    def onRead(self, datum: Datum, *reader: Any) -> None:
        """Take a message."""


class BottleCallback(TypedReaderCallback[Bottle]):
    """Is called with Bottles."""


class VectorCallback(TypedReaderCallback[Vector]):
    """Is called with Vectors."""


class PropertyCallback(TypedReaderCallback[Property]):
    """Is called with Properties."""


def caller_of(on_read: Callable[..., Any], port: object) -> Callable[[Any], Any]:
    """Return how an override of ``onRead`` is called with a message alone."""
    try:
        inspect.signature(on_read).bind(None, port)
    except TypeError:
        return on_read
    return lambda datum: on_read(datum, port)


Item = TypeVar("Item")


class MessageQueue(Generic[Item]):
    """Keeps the newest message or, if it is strict, all of them; a sender waits while a strict queue is full."""

    def __init__(self) -> None:
        self._kept: deque[Item] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False
        self.is_strict = False
        self.most = 1000  # kept while strict

    def __len__(self) -> int:
        """Return how many messages wait."""
        return len(self._kept)

    def put(self, item: Item, is_alive: Callable[[], bool]) -> None:
        """Leave a message; raises `PeerGone` if the sender gives up while the queue is full."""
        with self._changed:
            while self.is_strict and len(self._kept) >= self.most and not self._is_stopped:
                if not self._changed.wait(PEER_CHECK_PERIOD) and not is_alive():
                    raise PeerGone("the peer has gone before its message was kept")
            if self._is_stopped:
                return
            if not self.is_strict:
                self._kept.clear()
            self._kept.append(item)
            self._changed.notify_all()

    def take(self, timeout: float | None = None) -> Item | None:
        """Return the oldest message; None if none comes in time ([s]) or when reading was stopped."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._kept and not self._is_stopped:
                rest = None if deadline is None else deadline - time.monotonic()
                if rest is not None and rest <= 0:
                    return None
                self._changed.wait(rest)
            if self._is_stopped:
                return None
            item = self._kept.popleft()
            self._changed.notify_all()
            return item

    def take_while(self, is_wanted: Callable[[], bool]) -> Item | None:
        """Return the oldest message, waiting for it through stops and restarts; None when it is no longer wanted.

        A thread that changes what ``is_wanted`` returns calls `wake` afterwards.
        """
        with self._changed:
            self._changed.wait_for(lambda: (self._kept and not self._is_stopped) or not is_wanted())
            if not is_wanted():
                return None
            item = self._kept.popleft()
            self._changed.notify_all()
            return item

    def wake(self) -> None:
        """Let all waiting threads check again."""
        with self._changed:
            self._changed.notify_all()

    @property
    def is_stopped(self) -> bool:
        """Return whether messages are neither kept nor given out."""
        return self._is_stopped

    def stop(self) -> None:
        """Wake all waiting threads; until `restart`, messages are neither kept nor given out."""
        with self._changed:
            self._is_stopped = True
            self._kept.clear()
            self._changed.notify_all()

    def restart(self) -> None:
        """Keep messages again."""
        with self._changed:
            self._is_stopped = False


_CALLBACK_TIMEOUT = 2.0  # [s] for a user's code to return


class CallbackThread:
    """Calls ``handle_next`` until it is stopped; ``wake`` ends its waiting.

    ``handle_next`` gets a function that returns whether the thread goes on, and waits for a message while it does.
    """

    def __init__(
        self, handle_next: Callable[[Callable[[], bool]], None], wake: Callable[[], None], port_name: Callable[[], str]
    ) -> None:
        self._handle_next = handle_next
        self._wake = wake
        self._port_name = port_name
        self._is_running = True
        self._thread = threading.Thread(target=self._run, name=f"yarp callback of {port_name()}", daemon=True)

    def start(self) -> None:
        """Begin to call."""
        self._thread.start()

    def stop(self) -> None:
        """Make this the last call; wait for its end, but not for ever, unless it is the caller."""
        self._is_running = False
        self._wake()
        if self._thread is not threading.current_thread():
            self._thread.join(_CALLBACK_TIMEOUT)
            if self._thread.is_alive():
                log.warning("%s: the callback does not return; it is left alone", self._port_name())

    def _run(self) -> None:
        while self._is_running:
            try:
                self._handle_next(lambda: self._is_running)
            except Exception:
                log.exception("%s: the callback failed", self._port_name())


class BufferedPort(Contactable, TypedReaderCallback[Datum], Generic[Datum]):
    """Reads and writes objects of one type.

    Unless it is strict, only the newest message is kept for the reader. Unless it is strict, writing never waits: to
    a peer that is busy, the newest message is sent when it is ready, and older ones are left out.

    To be called with messages, override `onRead` and call `useCallback` without an argument.
    """

    def __init__(self) -> None:
        super().__init__()
        self._core.only_stores = True
        self._queue: MessageQueue[tuple[Datum, str]] = MessageQueue()
        self._replier: Reads | None = None
        self._callback_thread: CallbackThread | None = None
        self._prepared: Datum | None = None
        self._is_prepared = False
        self._last: Datum | None = None
        self._target_period = 0.0
        self._last_time = -float("inf")

    def isClosed(self) -> bool:
        """Return whether the port is closed."""
        return not self._core.is_open

    def prepare(self) -> Datum:
        """Return the object that `write` will send, to be filled; it still holds what was written last."""
        self._is_prepared = True
        if self._prepared is None:
            self._prepared = self._new()
        return self._prepared

    def unprepare(self) -> bool:
        """Forget the prepared object; False if there is none."""
        was_prepared, self._is_prepared = self._is_prepared, False
        return was_prepared

    def write(self, forceStrict: bool = False) -> None:
        """Send the prepared object; with ``forceStrict`` wait until all peers have taken it."""
        write_object(self, self.prepare(), forceStrict)
        self._is_prepared = False

    def writeStrict(self) -> None:
        """Send the prepared object and wait until all peers have taken it."""
        self.write(True)

    def waitForWrite(self) -> None:
        """Wait until all peers have taken what was written."""
        self._core.outputs.wait()

    def setStrict(self, strict: bool = True) -> None:
        """Keep every message until it is read; senders wait when there are too many."""
        self._queue.is_strict = strict
        self._note_purpose()

    def read(self, shouldWait: bool = True) -> Datum | None:
        """Return the next message; None if there is none and one is not waited for, or when interrupted or closed."""
        timeout = self._read_timeout() if shouldWait else 0.0
        taken = self._queue.take(timeout)
        if taken is None:
            return self._last if shouldWait and timeout is not None and not self._queue.is_stopped else None
        self._last, self._envelope = taken
        self._last_time = time.monotonic()
        return self._last

    def lastRead(self) -> Datum | None:
        """Return what `read` has returned last."""
        return self._last

    def getPendingReads(self) -> int:
        """Return how many messages wait to be read."""
        return len(self._queue)

    def setTargetPeriod(self, period: float) -> None:
        """Have `read` wait until ``period`` [s] after the last message at most, then return that again; 0: no limit."""
        self._target_period = period

    def setReplier(self, reader: Reads) -> None:
        """Have a PortReader answer the messages whose sender wants a reply; they are not read otherwise."""
        self._replier = reader
        self._note_purpose()

    def useCallback(self, callback: TypedReaderCallback[Datum] | None = None) -> None:
        """Call ``callback.onRead``, or this port's own, with every message instead of having them read."""
        self.disableCallback()
        call = caller_of(self.onRead if callback is None else callback.onRead, self)

        def handle_next(is_running: Callable[[], bool]) -> None:
            taken = self._queue.take_while(is_running)
            if taken is not None:
                self._last, self._envelope = taken
                call(self._last)

        self._callback_thread = CallbackThread(handle_next, self._queue.wake, self.getName)
        self._callback_thread.start()

    def disableCallback(self) -> None:
        """Have messages read again."""
        thread, self._callback_thread = self._callback_thread, None
        if thread is not None:
            thread.stop()

    def close(self) -> None:
        """Close all connections, wake waiting readers, unregister."""
        super().close()
        self.disableCallback()

    def _new(self) -> Datum:
        raise NotImplementedError

    def _read_timeout(self) -> float | None:
        """Return the time that `read` waits, [s]; None for any time."""
        if self._target_period <= 0:
            return None
        return max(self._last_time + self._target_period - time.monotonic(), 0.0)

    def _handle(self, message: IncomingMessage) -> Sent | None:
        if self._reader is not None:
            return super()._handle(message)
        if self._replier is not None and message.wants_reply:
            return read_and_answer(self._replier, message, self._core.contact)
        datum = self._new()
        message.read_into(datum)
        self._queue.most = self._core.settings.limits.strict_queue
        self._queue.put((datum, message.envelope), message.source.is_alive)
        return None

    def _note_purpose(self) -> None:
        """Note whether messages are only stored: at a strict queue that is full they wait."""
        self._core.only_stores = self._reader is None and self._replier is None and not self._queue.is_strict

    def _stop(self) -> None:
        self._queue.stop()

    def _resume(self) -> None:
        self._queue.restart()


class BufferedPortBottle(BufferedPort[Bottle]):
    """Reads and writes Bottles."""

    def _new(self) -> Bottle:
        return Bottle()


class BufferedPortVector(BufferedPort[Vector]):
    """Reads and writes Vectors."""

    def _new(self) -> Vector:
        return Vector()


class BufferedPortProperty(BufferedPort[Property]):
    """Reads and writes Properties."""

    def _new(self) -> Property:
        return Property()


def write_object(port: BufferedPort[Datum], sent: Sent, is_strict: bool = False) -> None:
    """Send an object that is ready through a port, instead of the one that it would prepare."""
    try:
        if is_strict:
            port._core.send(sent)
        else:
            port._core.offer(sent)
    except MalformedMessage as error:
        log.error("%s: cannot write: %s", port._core.name, error)


@dataclass(frozen=True, slots=True)
class ArrivedMessage:
    """A message and when it came.

    Attributes:
        message: As it came.
        arrived_at: [s], on the clock of this process, which may be the network's.
        received_at: [s], monotonic.
    """

    message: IncomingMessage
    arrived_at: float
    received_at: float


class NewestMessagePort(Contactable):
    """Takes every message and keeps the newest; no thread is woken for it, and nothing is decoded before it is read.

    Attributes:
        newest: What came last; None before the first message.
    """

    def __init__(self) -> None:
        super().__init__()
        self._core.only_stores = True
        self.newest: ArrivedMessage | None = None

    def _handle(self, message: IncomingMessage) -> None:
        self.newest = ArrivedMessage(message, now(), time.monotonic())
