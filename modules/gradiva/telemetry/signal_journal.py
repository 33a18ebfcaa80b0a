"""Signals on their way to a log file: written row by row, so that a crash loses a second at most."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.telemetry.signal_log import LogError, SignalLog

JOURNAL_NAME = "log.journal"


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


def read_journal(path: Path) -> tuple[SignalLog, dict[str, Any]]:
    """Return the signals of a journal, and what goes beside them; a row that was not ended is left out.

    Raises:
        LogError: It is none, or is being written.
    """
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            header = json.loads(file.readline())
            rows = file.read()
        signals = {str(name): tuple(map(str, elements)) for name, elements in header["signals"].items()}
        return _log_of(rows, signals), dict(header["metadata"])
    except BlockingIOError:
        raise LogError(f"{path} is being written") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LogError(f"{path} is no journal: {error}") from None


def _log_of(rows: bytes, signals: Mapping[str, tuple[str, ...]]) -> SignalLog:
    width = 1 + sum(map(len, signals.values()))
    whole = len(rows) // (8 * width)
    table: npt.NDArray[np.float64] = np.frombuffer(rows, count=whole * width).reshape(whole, width)
    columns, start = {}, 1
    for name, elements in signals.items():
        columns[name] = table[:, start : start + len(elements)]
        start += len(elements)
    log = SignalLog.from_arrays(table[:, 0], columns)
    for name, elements in signals.items():
        log.describe(name, elements)
    return log
