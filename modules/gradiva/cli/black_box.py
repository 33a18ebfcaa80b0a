"""The process beside a controller that writes its black box: the newest minute as a run folder, after a fault."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradiva.session import Trigger

_AFTER = 2.0  # [s] of the machine, recorded after a fault
_NICENESS = 10
_RUN, _RECORDING, _DUMP = "run", "recording", "dump"


class BlackBoxWriter:
    """Writes the ring of a controller to run folders, as it is asked to or as the controller ends without a word.

    It is small until it has to write: what reports need is imported then.
    """

    def __init__(self, pipe: Connection, ring: tuple[int, int, int]) -> None:
        """Take the pipe to the controller, and handle, rows and width of its ring."""
        self._pipe, self._ring = pipe, ring
        self._known: dict[str, bytes] = {}
        self._has_ended = False

    def run(self) -> None:
        """Serve the controller until it ends."""
        while not self._has_ended:
            triggers = self._read()
            is_killed = triggers is None and _RECORDING in self._known
            if triggers or is_killed:
                self._write([*(triggers or ()), *self._later(triggers or ())])

    def _read(self) -> list[Trigger] | None:
        """Take the next message; return its triggers, None where the controller ended without a word."""
        try:
            note, content = self._pipe.recv()
        except (EOFError, OSError):
            self._has_ended = True
            return None
        if note == _DUMP:
            return [pickle.loads(content)]
        if note in (_RUN, _RECORDING):
            self._known[note] = content
        else:
            self._has_ended = True
        return []

    def _later(self, triggers: Sequence[Trigger]) -> list[Trigger]:
        """Wait until what comes after a fault is recorded; return the triggers that come meanwhile."""
        found, end = list(triggers), time.monotonic() + _AFTER
        while any(each.is_fault for each in found) and not self._has_ended:
            if not self._pipe.poll(max(0.0, end - time.monotonic())):
                break
            found += self._read() or ()
        return found[len(triggers) :]

    def _write(self, triggers: Sequence[Trigger]) -> None:
        try:
            from gradiva.cli.dumps import write_dump
            from gradiva.session import SignalRing

            handle, rows, width = self._ring
            snapshot = SignalRing(rows, width, handle).snapshot()
            run, recording = (pickle.loads(self._known[name]) for name in (_RUN, _RECORDING))
            line = write_dump(run, recording, snapshot, triggers)
        except Exception as error:
            line = f"nothing is written: {type(error).__name__}: {error}"
        with suppress(OSError):
            self._pipe.send((sum(each.is_asked for each in triggers), line))


def main(arguments: Sequence[str]) -> None:
    """Serve the controller whose pipe and ring ``arguments`` name: handles of both, rows, width."""
    pipe, handle, rows, width = map(int, arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with its controller
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # a real-time priority of the controller's thread
    with suppress(OSError):
        os.nice(_NICENESS)
    BlackBoxWriter(Connection(pipe), (handle, rows, width)).run()


if __name__ == "__main__":
    main(sys.argv[1:])
