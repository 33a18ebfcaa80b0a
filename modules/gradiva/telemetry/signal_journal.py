"""Signals on their way to a log file: written row by row, so that a crash loses a second at most."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import NDArray
from gradiva.telemetry.signal_log import LogError, SignalInfo

JOURNAL_NAME = "log.journal"
_BLOCK = 1024  # rows that are read at once


class SignalJournal:
    """A file of rows: time, then all signals, doubles. Its first line, JSON, tells the signals and what goes beside
    them into the log file. As long as it is open no other process takes it for one that was left behind.

    Attributes:
        path: Of the file.
        signals: Elements by signal, in the order of the columns.
        rows: Written so far.
    """

    def __init__(self, path: Path, signals: Mapping[str, Sequence[str]], metadata: Mapping[str, Any]) -> None:
        """Begin a new file.

        Raises:
            LogError: It cannot be written.
        """
        self.path = path
        self.signals = {name: tuple(elements) for name, elements in signals.items()}
        self.rows = 0
        self._sizes = [(name, len(elements)) for name, elements in self.signals.items()]
        try:
            self._file = path.open("xb")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            header = {"signals": self.signals, "metadata": dict(metadata)}
            self._file.write(json.dumps(header).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise LogError(f"cannot write {path}: {error.strerror}") from None

    def append(self, time: float, values: Mapping[str, Sequence[float]]) -> None:
        """Write one row; signals that are missing in it become NaN.

        Args:
            time: [s].
            values: By signal; each as long as it has elements.

        Raises:
            LogError: The disk does not take it.
        """
        row = [time]
        for name, size in self._sizes:
            row += values.get(name) or [float("nan")] * size
        try:
            self._file.write(np.array(row).tobytes())
        except OSError as error:
            raise LogError(f"cannot write {self.path}: {error.strerror}") from None
        self.rows += 1

    def flush(self) -> None:
        """Give to the file what is still in memory.

        Raises:
            LogError: The disk does not take it.
        """
        try:
            self._file.flush()
        except OSError as error:
            raise LogError(f"cannot write {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """End the file; others may read it."""
        self._file.close()


class JournalReader:
    """Reads a journal block by block, so that a run of hours needs no more memory than one of seconds.

    A row that was not ended is left out. As long as it is open, no other process reads or writes the journal.

    Attributes:
        metadata: What goes beside the signals.
        columns: Where each signal stands in a row.
        duration: From the first row to the last, [s].
    """

    def __init__(self, path: Path) -> None:
        """Open a journal.

        Raises:
            LogError: It is none, or is being written.
        """
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise LogError(f"{path} is no journal: {error}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read_header(json.loads(self._file.readline()))
        except BlockingIOError:
            self._file.close()
            raise LogError(f"{path} is being written") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self._file.close()
            raise LogError(f"{path} is no journal: {error}") from None

    def __enter__(self) -> JournalReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def info(self, name: str) -> SignalInfo:
        """Return what the columns of a signal are called."""
        return SignalInfo(self._signals[name])

    def blocks(self) -> Iterator[NDArray]:
        """Yield all rows: time [s], then the columns of all signals, shape (rows, width)."""
        for begin in range(0, self._rows, _BLOCK):
            yield self._read(begin, min(_BLOCK, self._rows - begin))

    def _read_header(self, header: Mapping[str, Any]) -> None:
        self._signals = {str(name): tuple(map(str, elements)) for name, elements in header["signals"].items()}
        self.metadata = dict(header["metadata"])
        ends = list(accumulate(map(len, self._signals.values()), initial=1))
        self.columns = {name: slice(*ends[place : place + 2]) for place, name in enumerate(self._signals)}
        self._begin, self._width = self._file.tell(), ends[-1]
        self._rows = (os.fstat(self._file.fileno()).st_size - self._begin) // (8 * self._width)
        times = [self._read(row, 1)[0, 0] for row in (0, self._rows - 1)] if self._rows else [0.0, 0.0]
        self.duration = float(times[1] - times[0])

    def _read(self, row: int, count: int) -> NDArray:
        self._file.seek(self._begin + 8 * self._width * row)
        return np.frombuffer(self._file.read(8 * self._width * count)).reshape(count, self._width)
