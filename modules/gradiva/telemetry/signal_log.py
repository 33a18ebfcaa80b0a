"""Keep the signals of each tick: in memory (`SignalLog`), or row by row in a file (`SignalJournal`)."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, WalkingError, nearest_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOURNAL_NAME = "log.journal"
_BLOCK_LENGTH = 1024  # [rows] a new block costs no copy, so that no tick of a long walk is late


class LogError(WalkingError):
    """A signal is unknown or has another size, or a log file is malformed."""


_UNITS = (  # of signals, by what stands in their names: the first that fits
    ("own::", "-"),
    ("torque_control::", "-"),
    ("tick::", "µs"),
    ("joints_state::torques", "N m"),
    ("joints_state::velocities", "rad/s"),
    ("joints_state::positions", "rad"),
    ("flexible_joints::stiffness", "N m/rad"),
    ("flexible_joints::torques", "N m"),
    ("flexible_joints::velocities", "rad/s"),
    ("flexible_joints::positions", "rad"),
    ("joint_positions", "rad"),
    ("joint_velocities", "rad/s"),
    ("motor_positions", "rad"),
    ("motor_temperatures", "°C"),
    ("boards::currents", "A"),
    ("boards::duty_cycles", "%"),
    ("contact::stiffness", "N/m^3"),
    ("contact::damping", "N s/m^3"),
    ("angular_momentum", "N m s"),
    ("angular_velocity", "rad/s"),
    ("orientation", "rad"),
    ("::tilt", "rad"),
    ("force", "N"),
    ("torque", "N m"),
    ("foothold", "m, rad"),
    ("velocity", "m/s"),
    ("position", "m"),
    ("::sinkage", "m"),
    ("zmp::", "m"),
    ("step_adaptation::delay", "s"),
    ("solve_time", "s"),
)


def unit_of(signal: str) -> str:
    """Return the unit of a signal by its name; "-" of flags, counts and signals of the user's own."""
    return next((unit for part, unit in _UNITS if part in signal), "-")


@dataclass(frozen=True, slots=True)
class SignalInfo:
    """Name the columns of a signal and their unit.

    Attributes:
        elements: One name a column; empty where none was given.
        unit: Of all columns; "-" for a pure number, or where none was given.
    """

    elements: tuple[str, ...] = ()
    unit: str = "-"


class SignalLog:
    """Keep signals over time, one row a tick.

    Names nest by ``::``, as in ``dcm::position::measured``. The first tick fixes the signals and their sizes.
    Ticks are rows of blocks, joined at the first read: appending costs a few microseconds however long the log is.
    """

    def __init__(self) -> None:
        self._columns: dict[str, slice] = {}
        self._layout: list[tuple[str, slice, int]] = []
        self._info: dict[str, SignalInfo] = {}
        self._titles: tuple[str, ...] = ()
        self._blocks: list[NDArray] = []  # the first column of each is the time
        self._row = _BLOCK_LENGTH  # of the last block, the next to be filled

    def append(self, time: float, signals: Mapping[str, float | npt.ArrayLike]) -> None:
        """Store one tick.

        Args:
            time: [s].
            signals: Name to number or vector; the same names and sizes at each tick, in any order.

        Raises:
            LogError: A signal is new, missing, or has another size than before.
        """
        if self._row == _BLOCK_LENGTH:
            self._add_block(signals)
        row = self._blocks[-1][self._row]
        try:
            for name, columns, size in self._layout:
                value = signals[name]
                if size != 1 and len(value) != size:  # type: ignore[arg-type]
                    raise ValueError
                row[columns] = value
        except (KeyError, TypeError, ValueError):
            raise self._refusal(signals) from None
        if len(signals) != len(self._layout):
            raise self._refusal(signals)
        row[0] = time
        self._row += 1

    def forget(self, before: float) -> None:
        """Drop blocks of rows that are older than ``before`` [s], so that a log without an end stays small."""
        while len(self._blocks) > 1 and self._blocks[0][-1, 0] < before:
            del self._blocks[0]

    def describe(self, name: str, elements: Sequence[str] = (), unit: str = "-") -> None:
        """Set the names and the unit of a signal's columns; may come before the first tick."""
        self._info[name] = SignalInfo(tuple(elements), unit)

    def info(self, name: str) -> SignalInfo:
        """Return the names and the unit of a signal; column numbers stand in for names that were not given."""
        size = self[name].shape[1]
        known = self._info.get(name, SignalInfo())
        if len(known.elements) == size:
            return known
        return SignalInfo(tuple(f"element_{index}" for index in range(size)), known.unit)

    def __repr__(self) -> str:
        """Return how many signals and ticks it has, and from when to when."""
        if not len(self):
            return "<SignalLog: no ticks>"
        times = self.times
        return f"<SignalLog: {len(self._columns)} signals, {len(self)} ticks from {times[0]:.2f} to {times[-1]:.2f} s>"

    def plot(self, *names: str) -> Figure:
        """Return a figure of signals over time, one below the other.

        Args:
            names: Of the signals, in which ``*`` stands for any characters, as in ``"dcm::position*"``.

        Raises:
            LogError: No signal has such a name.
        """
        from gradiva.telemetry.matplotlib_plots import draw_panels  # which reads logs
        from gradiva.telemetry.walk_panels import signal_panels

        return draw_panels(signal_panels(self, self.matching(names)), self.times)

    def save(self, path: Path | str) -> Path:
        """Write all signals, in the format of the ending: ``.mat``, ``.csv`` or ``.npz``; return the path.

        Raises:
            LogError: The ending is another one, or the file cannot be written.
        """
        from gradiva.telemetry.log_files import save_log  # which reads logs

        return save_log(self, Path(path))

    def to_dataframe(self) -> Any:
        """Return a pandas ``DataFrame``: the columns of ``export_log``, with the times, [s], as its index.

        Raises:
            LogError: pandas is not installed.
        """
        from gradiva.telemetry.log_files import columns_of  # which reads logs

        try:
            pandas = import_module("pandas")
        except ImportError:
            raise LogError("to_dataframe needs pandas, which is not installed: pip install pandas") from None
        titles = [title for name in self for title in columns_of(self, name)]
        columns = [column for name in self for column in self[name].T]
        index = pandas.Index(self.times, name="time")
        return pandas.DataFrame(dict(zip(titles, columns, strict=True)), index=index)

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """Return the signals that fit any pattern, in the order of the log; all where there is no pattern.

        Raises:
            LogError: A pattern fits no signal.
        """
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in self):
                raise LogError(f"the log has no signal '{pattern}'{nearest_name(pattern, self._columns)}")
        return [name for name in self if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)]

    @property
    def names(self) -> tuple[str, ...]:
        """All signals, in the order of the first tick."""
        return tuple(self._columns)

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the columns behind the time, as in an exported log; one object while they stay so."""
        if not self._titles and self._layout:
            self._titles = tuple(title for name, _, size in self._layout for title in self._titles_of(name, size))
        return self._titles

    @property
    def newest(self) -> NDArray:
        """The last tick, time first; empty before the first one."""
        if not self._blocks:
            return np.empty(0)
        last: NDArray = self._blocks[-1]
        return last[self._row - 1] if len(last) == _BLOCK_LENGTH else last[-1]

    @property
    def times(self) -> NDArray:
        """When the ticks were, [s], shape (T,), read-only."""
        return self._joined()[:, 0]

    def __getitem__(self, name: str) -> NDArray:
        """Return one signal, shape (T, n), read-only.

        Raises:
            LogError: No such signal.
        """
        if name not in self._columns:
            raise LogError(f"the log has no signal '{name}'{nearest_name(name, self._columns)}")
        return self._joined()[:, self._columns[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    @property
    def columns(self) -> Mapping[str, slice]:
        """Return the columns of each signal in the rows of `blocks`."""
        return self._columns

    def blocks(self) -> Iterator[NDArray]:
        """Yield all rows, block by block: time [s], then the columns of all signals, shape (rows, width)."""
        if self._blocks:
            yield from self._blocks[:-1]
            yield self._blocks[-1][: self._row] if len(self._blocks[-1]) == _BLOCK_LENGTH else self._blocks[-1]

    def __len__(self) -> int:
        return sum(map(len, self._blocks)) - (_BLOCK_LENGTH - self._row)

    @classmethod
    def from_arrays(cls, times: npt.ArrayLike, signals: Mapping[str, NDArray]) -> SignalLog:
        """Return a log made of whole signals.

        Args:
            times: [s], shape (T,).
            signals: Name to samples, shape (T,) or (T, n).

        Raises:
            LogError: A signal has another number of samples than there are times.
        """
        times = np.asarray(times, dtype=np.float64)
        parts = {name: np.asarray(samples, dtype=np.float64) for name, samples in signals.items()}
        for name, samples in parts.items():
            if len(samples) != len(times):
                raise LogError(f"'{name}' has {len(samples)} samples for {len(times)} times")
            parts[name] = samples.reshape(len(times), -1)
        log = cls()
        log._fix_layout({name: samples.shape[1] for name, samples in parts.items()})
        log._blocks = [np.hstack([times[:, None], *parts.values()])]
        log._blocks[0].flags.writeable = False
        return log

    def _add_block(self, signals: Mapping[str, float | npt.ArrayLike]) -> None:
        if not self._layout:
            for name, value in signals.items():
                if np.ndim(value) > 1:
                    raise LogError(f"'{name}' has shape {np.shape(value)}: a signal is a number or a vector")
            self._fix_layout({name: np.size(value) for name, value in signals.items()})
        width = 1 + sum(size for _, _, size in self._layout)
        self._blocks.append(np.empty((_BLOCK_LENGTH, width)))
        self._row = 0

    def _fix_layout(self, sizes: Mapping[str, int]) -> None:
        start = 1
        for name, size in sizes.items():
            parent = next((other for other in sizes if name.startswith(other + "::")), None)
            if parent is not None:
                raise LogError(f"'{parent}' is a signal, so that '{name}' cannot lie below it")
            self._columns[name] = slice(start, start + size)
            self._layout.append((name, self._columns[name], size))
            start += size

    def _titles_of(self, name: str, size: int) -> list[str]:
        known = self._info.get(name, SignalInfo()).elements
        elements = known if len(known) == size else tuple(f"element_{index}" for index in range(size))
        return [f"{name}::{element}" for element in elements] if size > 1 else [name]

    def _joined(self) -> NDArray:
        if not self._blocks:
            return np.empty((0, 1))
        if len(self._blocks) > 1 or self._row < _BLOCK_LENGTH:
            table = np.concatenate(self._blocks)[: len(self)]
            table.flags.writeable = False
            self._blocks, self._row = [table], _BLOCK_LENGTH
        return self._blocks[0]

    def _refusal(self, signals: Mapping[str, float | npt.ArrayLike]) -> LogError:
        for name in signals:
            if name not in self._columns:
                return LogError(f"'{name}' is not a signal of this log{nearest_name(name, self._columns)}")
        for name, _, size in self._layout:
            if name not in signals:
                return LogError(f"the signal '{name}' is missing in this tick")
            if np.shape(signals[name]) not in ((size,), *([()] if size == 1 else [])):
                return LogError(f"'{name}' has shape {np.shape(signals[name])}, before it had {size} numbers")
        return LogError("a signal is not made of numbers")


class SignalJournal:
    """Write signals row by row into a file, so that a crash loses a second at most.

    A row is the time and then all signals, as doubles. The first line, JSON, holds the names of the signals and the
    metadata of the log file. A lock marks the file as in use while it is open.

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
        """Write the rows that are still in memory to the file.

        Raises:
            LogError: The disk does not take it.
        """
        try:
            self._file.flush()
        except OSError as error:
            raise LogError(f"cannot write {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()


class JournalReader:
    """Read a journal block by block, so that a run of hours needs no more memory than one of seconds.

    A row that was not ended is left out. As long as it is open, no other process reads or writes the journal.

    Attributes:
        metadata: What goes beside the signals.
        columns: The columns of each signal in a row.
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
        """Return the names of a signal's columns."""
        return SignalInfo(self._signals[name])

    def blocks(self) -> Iterator[NDArray]:
        """Yield all rows: time [s], then the columns of all signals, shape (rows, width)."""
        for begin in range(0, self._rows, _BLOCK_LENGTH):
            yield self._read(begin, min(_BLOCK_LENGTH, self._rows - begin))

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
