"""Ports that keep messages until they are read and never hold up who writes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from pureyarp.data.streams import Portable
from pureyarp.data.values import Bottle, Property
from pureyarp.data.vectors import Vector
from pureyarp.errors import MalformedMessage
from pureyarp.network.callback_thread import CallbackThread
from pureyarp.network.callbacks import TypedReaderCallback, caller_of
from pureyarp.network.contactable import Contactable
from pureyarp.network.incoming_message import IncomingMessage
from pureyarp.network.log import log
from pureyarp.network.mailbox import Mailbox
from pureyarp.network.message_objects import Reads, read_and_answer
from pureyarp.network.transferable import Sent

T = TypeVar("T", bound=Portable)


class BufferedPort(Contactable, TypedReaderCallback[T], Generic[T]):
    """Reads and writes objects of one type.

    Unless it is strict, only the newest message is kept for the reader. Unless it is strict, writing never waits: to
    a peer that is busy, the newest message is sent when it is ready, and older ones are left out.

    To be called with messages, override `onRead` and call `useCallback` without an argument.
    """

    def __init__(self) -> None:
        super().__init__()
        self._core.only_stores = True
        self._mailbox: Mailbox[tuple[T, str]] = Mailbox()
        self._replier: Reads | None = None
        self._callback_thread: CallbackThread | None = None
        self._prepared: T | None = None
        self._is_prepared = False
        self._last: T | None = None
        self._target_period = 0.0
        self._last_time = -float("inf")

    def isClosed(self) -> bool:
        """Tell whether the port is closed."""
        return not self._core.is_open

    def prepare(self) -> T:
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
        self._mailbox.is_strict = strict
        self._note_purpose()

    def read(self, shouldWait: bool = True) -> T | None:
        """Return the next message; None if there is none and one is not waited for, or when interrupted or closed."""
        timeout = self._patience() if shouldWait else 0.0
        taken = self._mailbox.take(timeout)
        if taken is None:
            return self._last if shouldWait and timeout is not None and not self._mailbox.is_stopped else None
        self._last, self._envelope = taken
        self._last_time = time.monotonic()
        return self._last

    def lastRead(self) -> T | None:
        """Return what `read` has returned last."""
        return self._last

    def getPendingReads(self) -> int:
        """Return how many messages wait to be read."""
        return len(self._mailbox)

    def setTargetPeriod(self, period: float) -> None:
        """Have `read` wait until ``period`` [s] after the last message at most, then return that again; 0: no limit."""
        self._target_period = period

    def setReplier(self, reader: Reads) -> None:
        """Have a PortReader answer the messages whose sender wants a reply; they are not read otherwise."""
        self._replier = reader
        self._note_purpose()

    def useCallback(self, callback: TypedReaderCallback[T] | None = None) -> None:
        """Call ``callback.onRead``, or this port's own, with every message instead of having them read."""
        self.disableCallback()
        call = caller_of(self.onRead if callback is None else callback.onRead, self)

        def handle_next(is_running: Callable[[], bool]) -> None:
            taken = self._mailbox.take_while(is_running)
            if taken is not None:
                self._last, self._envelope = taken
                call(self._last)

        self._callback_thread = CallbackThread(handle_next, self._mailbox.wake, self.getName)
        self._callback_thread.start()

    def disableCallback(self) -> None:
        """Have messages read again."""
        thread, self._callback_thread = self._callback_thread, None
        if thread is not None:
            thread.stop()

    def close(self) -> None:
        """Take leave of all peers, wake who waits, unregister."""
        super().close()
        self.disableCallback()

    def _new(self) -> T:
        raise NotImplementedError

    def _patience(self) -> float | None:
        """Return how long `read` waits, [s]; None: as long as it takes."""
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
        self._mailbox.most = self._core.settings.limits.strict_queue
        self._mailbox.put((datum, message.envelope), message.source.is_alive)
        return None

    def _note_purpose(self) -> None:
        """Say whether messages are only stored: at a strict mailbox that is full they wait."""
        self._core.only_stores = self._reader is None and self._replier is None and not self._mailbox.is_strict

    def _stop(self) -> None:
        self._mailbox.stop()

    def _resume(self) -> None:
        self._mailbox.restart()


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


def write_object(port: BufferedPort[T], sent: Sent, is_strict: bool = False) -> None:
    """Send an object that is ready through a port, instead of the one that it would prepare."""
    try:
        if is_strict:
            port._core.send(sent)
        else:
            port._core.offer(sent)
    except MalformedMessage as error:
        log.error("%s: cannot write: %s", port._core.name, error)
