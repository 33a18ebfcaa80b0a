"""The black box: the newest minute of all signals, in memory that a process of its own writes to disk after a fault."""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time as machine_time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import ControlMode, Measurement, NDArray, StateError, so3
from gradiva.safety import Response, SafetyEvent
from gradiva.walking import WalkingLog, WalkingState

DURATION = 60.0  # [s] that the ring holds
_COUNT = 0  # place in the head
_HEAD = 64  # [bytes] before the times
_PER_JOINT, _BESIDE = 16, 320  # columns reserved, for each joint and beside them; shipped robots fill 60 % at most
_WARNINGS_APART = DURATION  # [s] between dumps for the sake of warnings alone: two closer ones hold the same
_ENDING = 10.0  # [s] of the module's end that wait for the last dump; it is written to its end in any case
_ANSWER = 20.0  # [s] for a dump that was asked for
_ENDED = "nothing can be written: the process that writes has ended"
_MESSAGES = 300  # lines of the log
_STATES = {state: float(number) for number, state in enumerate(WalkingState)}
_MODES = {mode: float(number) for number, mode in enumerate(ControlMode)}
_PROGRAM = "gradiva.cli.black_box"
DRIVE_SIGNALS = ("boards::motor_positions", "boards::currents", "boards::duty_cycles")
"""Names of the signals of motors that boards may give: [rad], [A], [%], shape (n,) each."""
_LOGGER = logging.getLogger("gradiva.module")
Rows = npt.NDArray[np.float32]
"""Of a ring: signals of ticks, shape (T, width)."""
Snapshot = tuple[NDArray, Rows]
"""Times, [s], shape (T,), and rows of a ring, oldest first."""
Signals = Mapping[str, float | npt.ArrayLike]


class SignalRing:
    """Keeps the newest rows of signals in memory of a fixed size that other processes map.

    A row is appended without a lock and without an allocation. A reader copies all rows, then leaves out those that the
    writer may have replaced meanwhile. A signal may come later than others; where it is missing, its columns are NaN.

    Attributes:
        columns: Of each signal in a row; the writer's own.
        refused: Signals for which there are no columns left.
    """

    def __init__(self, rows: int, width: int, handle: int | None = None) -> None:
        """Reserve memory for ``rows`` of ``width`` numbers, or map that of another process by its ``handle``.

        Raises:
            OSError: The machine has not so much.
        """
        self.rows, self.width = rows, width
        size = _HEAD + 8 * rows + 4 * rows * width
        self.handle = _memory(size) if handle is None else handle
        self._memory = mmap.mmap(self.handle, size)
        self._head = np.frombuffer(self._memory, np.int64, 1)
        self._times = np.frombuffer(self._memory, np.float64, rows, _HEAD)
        self._table = np.frombuffer(self._memory, np.float32, rows * width, _HEAD + 8 * rows).reshape(rows, width)
        self.columns: dict[str, slice] = {}
        self.refused: set[str] = set()
        self._used = 0

    def __len__(self) -> int:
        return min(int(self._head[_COUNT]), self.rows)

    def append(self, time: float, *groups: Signals) -> bool:
        """Store the signals of a tick at ``time`` [s]; return whether there are signals that were not there before."""
        count, used = int(self._head[_COUNT]), self._used
        row = self._table[count % self.rows]
        row.fill(np.nan)
        for signals in groups:
            for name, value in signals.items():
                columns = self.columns.get(name) or self._place(name, np.size(value))
                if columns is not None:
                    row[columns] = value
        self._times[count % self.rows] = time
        self._head[_COUNT] = count + 1
        return self._used != used

    def snapshot(self) -> Snapshot:
        """Return what it holds, while the writer goes on."""
        last = int(self._head[_COUNT])
        times, table = self._times.copy(), self._table.copy()
        first = max(0, int(self._head[_COUNT]) + 1 - self.rows)  # the writer may be at the row after the newest
        order = np.arange(first, last) % self.rows
        return times[order], table[order]

    def _place(self, name: str, size: int) -> slice | None:
        if self._used + size > self.width:
            self.refused.add(name)
            return None
        self.columns[name] = slice(self._used, self._used + size)
        self._used += size
        return self.columns[name]


def _memory(size: int) -> int:
    """Return the handle of so much memory, [bytes], which has no name and ends with the last process that maps it."""
    if sys.platform == "linux":
        handle = os.memfd_create("gradiva black box")
        os.posix_fallocate(handle, 0, size)  # a machine without it says so now, and not by a signal in a tick
        return handle
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        return os.dup(file.fileno())


@dataclass(frozen=True, slots=True)
class Recording:
    """Says what the rows of a ring are.

    Attributes:
        columns: Of each signal.
        elements: Names of the columns, of the signals of this module that have names.
        refused: Signals that are not in it, for lack of columns.
    """

    columns: Mapping[str, slice]
    elements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    refused: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRun:
    """Describes the run of which a black box holds the newest minute; it is pickled.

    Attributes:
        setup: Of the controller: a ``gradiva.setup.Setup``, which this room does not know.
        parent: Folder of the runs' folders.
        joint_limits: Lower and upper, [rad], shape (n,) each.
        velocity_limits: [rad/s], shape (n,).
        torque_limits: [N·m], shape (n,).
        module: Its command, its ports and those of the robot, by their names.
    """

    setup: Any
    parent: Path
    joint_limits: tuple[NDArray, NDArray]
    velocity_limits: NDArray
    torque_limits: NDArray
    module: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trigger:
    """Says why a dump is written.

    Attributes:
        reason: In a few words, also of the folder's name.
        is_fault: Whether the robot froze, or ended its walk: the cause is looked for, some seconds afterwards.
        state: Of the walk, with its reason.
        events: Of the safety supervisor, so far.
        messages: The last lines of the log.
        time: Of the control clock, [s].
        is_asked: Whether a caller waits for the line that says where it is.
    """

    reason: str
    is_fault: bool
    state: str
    events: Sequence[SafetyEvent]
    messages: Sequence[str]
    time: float
    is_asked: bool = False


class Note(StrEnum):
    """Names the messages to the process that writes."""

    RUN = "run"  # what is known of the run
    RECORDING = "recording"  # a `Recording`
    DUMP = "dump"  # a `Trigger`
    END = "end"  # the module ends in order


class BlackBox:
    """Records each tick; has the newest minute written when something goes wrong, when asked, and at a signal's end.

    The process that writes, of low priority and in a session of its own, holds the memory as well: it also writes when
    this process is killed. The tick appends a row and, seldom, puts a message into a queue; it waits for nothing.
    """

    def __init__(self, period: float, joints: int, run: RecordedRun) -> None:
        """Reserve the memory and start the process.

        Args:
            period: Of the ticks, [s].
            joints: Their number.
            run: Of this controller.

        Raises:
            OSError: There is not so much memory, or no process can be started.
        """
        self._ring = SignalRing(round(DURATION / period), _PER_JOINT * joints + _BESIDE)
        self._queue: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._answers: deque[Future[str]] = deque()
        self._lock, self._has_ended = threading.Lock(), False
        self._events, self._state = 0, WalkingState.CONFIGURED
        self._last: tuple[WalkingLog, Sequence[SafetyEvent]] | None = None
        self._warned = -np.inf
        self._lines = _LastLines(_MESSAGES)
        logging.getLogger("gradiva").addHandler(self._lines)
        self._queue.put((Note.RUN, run))
        self._process, self._pipe = _start(self._ring)
        for name, work in (("sender", self._send), ("listener", self._listen)):
            threading.Thread(target=work, name=f"black box {name}", daemon=True).start()

    def record(
        self, log: WalkingLog, measurement: Measurement, events: Sequence[SafetyEvent], *signals: Signals
    ) -> None:
        """Store a tick; have it written where it has brought an event, or a fault.

        Args:
            log: Of the tick.
            measurement: That it saw.
            events: Of the safety supervisor, all so far.
            signals: Beside those of `sensor_signals`; their names are other ones.
        """
        if self._ring.append(log.time, sensor_signals(log, measurement), *signals):
            recording = Recording(dict(self._ring.columns), refused=sorted(self._ring.refused))
            self._queue.put((Note.RECORDING, recording))
        new, self._events = events[self._events :], len(events)
        is_new_fault = log.state is WalkingState.FAULT and self._state is not WalkingState.FAULT
        self._state, self._last = log.state, (log, events)
        if new or is_new_fault:
            self._note(new, is_new_fault, log)

    def dump(self, reason: str = "asked for") -> str:
        """Have the newest minute written; return the line that says where. From any thread but that of the tick.

        Raises:
            StateError: Nothing is recorded yet, or nothing was written in time.
        """
        if self._last is None:
            raise StateError("the black box is empty: the robot has not been prepared yet")
        answer: Future[str] = Future()
        with self._lock:
            if self._has_ended:
                raise StateError(_ENDED)
            self._answers.append(answer)
            self._put(reason, is_asked=True)
        try:
            return answer.result(_ANSWER)
        except TimeoutError:
            raise StateError(f"it is still being written after {_ANSWER:g} s") from None

    def close(self, reason: str = "") -> None:
        """End; with a ``reason`` the newest minute is written first."""
        if reason and self._last is not None:
            try:
                self.dump(reason)
            except StateError as error:
                _LOGGER.warning("black box: %s", error)
        self._queue.put((Note.END, None))
        logging.getLogger("gradiva").removeHandler(self._lines)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)

    def _note(self, new: Sequence[SafetyEvent], is_new_fault: bool, log: WalkingLog) -> None:
        """Have the ring written for the sake of new events; of warnings alone once while a ring lasts."""
        is_fault = is_new_fault or any(event.response is not Response.WARN for event in new)
        if not is_fault and log.time < self._warned + _WARNINGS_APART:
            return
        self._warned = log.time
        self._put(str(new[0].kind) if new else "fault", is_fault)

    def _put(self, reason: str, is_fault: bool = False, is_asked: bool = False) -> None:
        assert self._last is not None, "a tick was recorded"
        log, events = self._last
        state = f"{log.state}: {log.reason}"
        trigger = Trigger(reason, is_fault, state, events, self._lines.copy(), log.time, is_asked)
        self._queue.put((Note.DUMP, trigger))

    def _send(self) -> None:
        """Hand on what the tick has put down; where the process has ended there is nothing to be done."""
        note = ""
        while note != Note.END:
            note, content = self._queue.get()
            try:
                self._pipe.send((str(note), pickle.dumps(content)))
            except OSError:
                return
            except Exception as error:  # a user's part of the setup that cannot be pickled
                _LOGGER.warning("black box: the '%s' cannot be handed on: %s: %s", note, type(error).__name__, error)

    def _listen(self) -> None:
        """Log what was written, and answer who waits for it."""
        with suppress(OSError, EOFError):
            while True:
                asked, line = self._pipe.recv()
                _LOGGER.warning("black box: %s", line)
                for _ in range(asked):
                    self._answers.popleft().set_result(line)
        with self._lock:
            self._has_ended = True
            for answer in self._answers:
                answer.set_exception(StateError(_ENDED))


def _start(ring: SignalRing) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start the process that writes, which signals to this one's group do not end; return it and the pipe to it."""
    ours, theirs = Pipe()
    with theirs:
        handles = (theirs.fileno(), ring.handle)
        command = [sys.executable, "-m", _PROGRAM, *map(str, (*handles, ring.rows, ring.width))]
        process = subprocess.Popen(
            command,
            pass_fds=handles,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # which, as a pipe of who started the module, would keep that one waiting
            stderr=subprocess.DEVNULL,
        )
    return process, ours


class _LastLines(logging.Handler):
    """Keeps the last lines of the log."""

    def __init__(self, most: int) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[str] = deque(maxlen=most)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, with the time of day."""
        clock = machine_time.strftime("%H:%M:%S", machine_time.localtime(record.created))
        self._lines.append(f"{clock} {record.levelname} {record.getMessage()}")

    def copy(self) -> tuple[str, ...]:
        """Return the lines, the last one at the end."""
        return tuple(self._lines)


def sensor_signals(log: WalkingLog, measurement: Measurement) -> dict[str, float | npt.ArrayLike]:
    """Return what was read and sent in a tick, also in one in which the control loop does not run.

    Times are ages, [s]; the state is the number of a `WalkingState`, the mode that of a `ControlMode`.
    """
    time, imu, temperatures = log.time, measurement.imu, measurement.motor_temperatures
    signals: dict[str, float | npt.ArrayLike] = {
        "sensors::joint_positions": measurement.joint_positions,
        "sensors::joint_velocities": measurement.joint_velocities,
        "sensors::joint_torques": measurement.joint_torques,
        "sensors::contact_wrenches": measurement.contact_wrenches.ravel(),
        "sensors::age": (time - measurement.time, time - measurement.wrenches_time, time - measurement.imu_time),
        "sensors::late": float(len(measurement.late)),
        "sent::command": log.command.values,
        "sent::mode": _MODES[log.command.mode],
        "state": _STATES[log.state],
    }
    if imu is not None:
        signals["sensors::imu::orientation"] = so3.roll_pitch_yaw(imu.rotation)
        signals["sensors::imu::angular_velocity"] = imu.angular_velocity
    if temperatures is not None:
        signals["sensors::motor_temperatures"] = temperatures
    return signals


def element_names_of_sensors(joints: Sequence[str], sensors: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of the columns of `sensor_signals` and of `DriveReadings`, of these joints and sensors."""
    names = ("joint_positions", "joint_velocities", "joint_torques", "motor_temperatures")
    of_joints = [*(f"sensors::{name}" for name in names), "sent::command", *DRIVE_SIGNALS]
    parts = ("fx", "fy", "fz", "tx", "ty", "tz")
    return {
        **dict.fromkeys(of_joints, tuple(joints)),
        "sensors::contact_wrenches": tuple(f"{sensor}_{part}" for sensor in sensors for part in parts),
        "sensors::age": ("joints", "wrenches", "imu"),
        "sensors::imu::orientation": ("roll", "pitch", "yaw"),
        "sensors::imu::angular_velocity": ("x", "y", "z"),
    }
