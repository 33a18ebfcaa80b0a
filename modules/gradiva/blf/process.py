"""Start, supervise and restart the worker of bipedal-locomotion-framework, and exchange problems and ticks with it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import os
import select
import subprocess
import sys
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import numpy as np

from gradiva.blf import worker
from gradiva.common import ConfigError, NDArray, NoSolutionFound, WalkingError, configuration

NAME = "bipedal-locomotion-framework"
INSTALL = (
    "mamba env create -f environment.yml, activate it or set blf.python to its bin/python; or leave whole_body.backend"
    " and centroidal_walking.backend at gradiva"
)
TICK_LIMIT = 0.05  # [s] of a tick on a robot, in which an error of the DCM grows by a fifth: the longest period, too
WAIT = 30.0  # [s] of a tick in a simulation, which waits for a worker however busy the machine is, if it does not hang
_START_TIMEOUT = 60.0  # [s] of imports and the problem, from a cold disk
_DYING = 0.005  # [s] until the status of a process is known whose pipe has ended
_DEAD = "the worker has died"
_REST = 0.01  # [s] for the rest of an answer that has begun
_RESTARTS = 3  # that are tried until one answers a tick
_REMEMBERED = 1000  # latencies
_NUMBER = 8  # [bytes]
_FOREIGN = ("PYTHONPATH", "PYTHONHOME")  # variables that are about this interpreter
_TAIL = 2000  # [bytes] of what the worker printed last
_LOGGER = logging.getLogger("gradiva.walking")


class Backend(StrEnum):
    """Names who solves the problem of a layer."""

    GRADIVA = "gradiva"
    BLF = "blf"


@configuration
class BlfConfig:
    """Table ``[blf]``: where bipedal-locomotion-framework is installed.

    Attributes:
        python: Interpreter that has it; empty: that of the active conda environment, else this one.
    """

    python: str = ""


class BackendError(ConfigError):
    """The framework is not installed, or refuses a problem; carries its call, the task and what to do."""


class BackendRefusal(NoSolutionFound):
    """A call of the framework returned False in a tick; carries the call and the task."""


class BackendLost(WalkingError):  # noqa: N818 (as NoSolutionFound)
    """The worker has died, is late or is being restarted: who asked answers without it."""


def find_python(configured: str = "") -> Path:
    """Return the interpreter that should have the framework.

    Args:
        configured: As in ``blf.python``.

    Raises:
        BackendError: There is none; the message says what to install.
    """
    prefix = os.environ.get("CONDA_PREFIX")
    if configured:
        found = Path(configured).expanduser()
        if not os.access(found, os.X_OK) or found.is_dir():
            raise BackendError(f"blf.python={configured} is no program; {INSTALL}", ["blf.python"])
        return found
    candidates = [Path(prefix, "bin", "python")] if prefix else []
    if importlib.util.find_spec("bipedal_locomotion_framework") is not None:
        candidates.append(Path(sys.executable))
    for found in candidates:
        if os.access(found, os.X_OK):
            return found
    raise BackendError(f"{NAME} is not installed here, and no conda environment is active: {INSTALL}")


def imported_version(python: Path) -> str:
    """Return the version of the framework that an interpreter imports, with what it needs; empty where it has none.

    Raises:
        BackendError: It cannot import one of them.
    """
    lines = [f"import {name}" for name in worker.MODULES]
    lines += ["import bipedal_locomotion_framework as blf", "print(getattr(blf, '__version__', ''))"]
    command = [str(python), "-c", "; ".join(lines)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_START_TIMEOUT, check=False, env=_environment(python)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackendError(f"{python}: {error}") from None
    if done.returncode:
        raise BackendError(_why_not(python, (done.stderr.strip().splitlines() or ["no answer"])[-1]))
    return (done.stdout.strip().splitlines() or [""])[-1]


def _why_not(python: Path, text: str) -> str:
    """Return why an interpreter has no worker, from what it said."""
    missing = next((name for name in ("numpy", *worker.MODULES) if f"named '{name.partition('.')[0]}" in text), None)
    if missing is None:
        return f"{text} ({python})"
    return f"{python} has no {missing.partition('.')[0]}: {INSTALL}"


def _environment(python: Path) -> dict[str, str]:
    """Return the environment of an interpreter: where another one's modules lie is none of its business."""
    is_this = python == Path(sys.executable)
    kept = {name: value for name, value in os.environ.items() if is_this or name not in _FOREIGN}
    return {**kept, "OMP_NUM_THREADS": "1"}


class WorkerProcess:
    """A problem that is solved in another interpreter.

    Attributes:
        round_trip: Of the last tick, [s].
        own_time: What the framework itself took of it, [s].
        timeout: Time after which a tick without an answer gives the worker up, [s].
        overheads: Round trips less the framework's own times, of the last ticks, [s].
        failure: Why it is away; empty while it answers.
    """

    def __init__(self, python: str, problem: Mapping[str, Any], timeout: float = WAIT) -> None:
        """Start the worker and wait until it has the problem.

        Args:
            python: As in ``blf.python``.
            problem: See ``worker.py``; ``size`` is the count of the numbers of an answer.
            timeout: Of a tick, [s].

        Raises:
            BackendError: The framework is missing, or refuses the problem.
        """
        self._python, self._problem = find_python(python), json.dumps(problem).encode()
        self.timeout, self.name, self._size = timeout, f"blf {problem['kind']}", problem["size"]
        self.round_trip = self.own_time = 0.0
        self.overheads: deque[float] = deque(maxlen=_REMEMBERED)
        self.failure, self._restarts = "", 0
        self._start()
        try:
            self._receive(_START_TIMEOUT)
        except (BackendLost, NoSolutionFound) as error:
            self.close()
            said = self._with_console(str(error)) if isinstance(error, BackendLost) else str(error)
            raise BackendError(_why_not(self._python, said)) from None
        self._is_starting = False

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def median_overhead(self) -> float:
        """Median of ``overheads``, [s]; not a number before the first tick."""
        return float(np.median(self.overheads)) if self.overheads else float("nan")

    def solve(self, values: NDArray) -> NDArray:
        """Return the answer to a tick.

        Raises:
            NoSolutionFound: A call returned False (`BackendRefusal`).
            BackendLost: The worker does not answer; it is restarted, and a later tick may find it again.
        """
        if self.failure and not self._is_back():
            raise BackendLost(self.failure)
        start = time.perf_counter()
        self._send(worker.TICK, np.ascontiguousarray(values, dtype=float).tobytes())
        data = self._receive(self.timeout)
        self.round_trip = time.perf_counter() - start
        self.overheads.append(self.round_trip - self.own_time)
        self._restarts = 0
        if len(data) != self._size * _NUMBER:
            raise BackendRefusal(self.name, f"an answer of {len(data)} bytes in place of {self._size} numbers")
        answer = np.frombuffer(data)
        if not np.isfinite(answer).all():  # before a controller integrates it
            raise BackendRefusal(self.name, "numbers that are not finite")
        return answer

    def close(self) -> None:
        """End the worker."""
        self._stop()

    def _start(self) -> None:
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (it is open as long as the worker)
        self._process = subprocess.Popen(
            [str(self._python), worker.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            env=_environment(self._python),
            bufsize=0,
            start_new_session=True,  # Ctrl-C of a terminal is for the walk, whose end closes the pipe
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._stop = weakref.finalize(self, _end, self._process)
        self._is_starting, self._began = True, time.monotonic()
        self._send(worker.PROBLEM, self._problem)

    def _send(self, kind: bytes, data: bytes) -> None:
        message = worker.REQUEST.pack(kind, len(data)) + data
        try:
            while message:
                message = message[os.write(self._requests, message) :]
        except OSError:
            self._lose(_DEAD)

    def _receive(self, timeout: float) -> bytes:
        """Return the bytes of the next answer.

        Raises:
            NoSolutionFound: It says that there is none.
            BackendLost: There is no answer in time.
        """
        end = time.monotonic() + timeout
        status, self.own_time, size = worker.ANSWER.unpack(self._read(worker.ANSWER.size, timeout, end))
        data = self._read(size, timeout, end)
        if status == worker.SOLVED:
            return data
        said = json.loads(data)
        raise BackendRefusal(self.name, self._with_console(said["text"]), said["task"] or None)

    def _read(self, size: int, timeout: float, end: float) -> bytes:
        """Return ``size`` bytes of an answer that has to be there ``timeout`` after the question, at ``end`` [s].

        Raises:
            BackendLost: They are late, or the pipe has ended.
        """
        found = b""
        while len(found) < size:
            if not self._poll.poll(1e3 * max(0.0, end - time.monotonic())):
                self._lose(f"no answer for {timeout:g} s")
            if not (part := os.read(self._answers, size - len(found))):
                self._lose(_DEAD)
            found += part
        return found

    def _lose(self, why: str) -> None:
        """Give the worker up; another one is started unless this one was starting itself.

        Raises:
            BackendLost: Always.
        """
        code = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_DYING if why == _DEAD else 0.0)
        self.failure = f"{self.name}: {why}" + ("" if code is None else f" (exit status {code})")
        self._stop()
        if not self._is_starting or self._restarts:
            self._restart()
        raise BackendLost(self.failure)

    def _restart(self) -> None:
        if self._restarts >= _RESTARTS:
            self._is_starting = False
            return
        self._restarts += 1
        _LOGGER.warning("%s; restarting it (%d of %d)", self.failure, self._restarts, _RESTARTS)
        failure = self.failure
        with contextlib.suppress(BackendLost, OSError):
            self._start()
        self.failure = failure

    def _is_back(self) -> bool:
        """Return whether the restarted worker has its problem; one that hangs is given up.

        Raises:
            BackendLost: It has just been given up.
        """
        if not self._is_starting:
            return False
        if not self._poll.poll(0):
            if time.monotonic() - self._began > _START_TIMEOUT:
                self._lose(f"no problem for {_START_TIMEOUT:g} s after a restart")
            return False
        try:
            self._receive(_REST)
        except NoSolutionFound as error:
            self._is_starting, self.failure = False, str(error)
            return False
        self._is_starting, self.failure = False, ""
        _LOGGER.warning("%s: the worker is back", self.name)
        return True

    def _with_console(self, text: str) -> str:
        """Return a text with the last line that the framework printed, which alone says why."""
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - _TAIL))
        lines = self._output.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{text}: {last}" if last else text


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker by closing its pipes; one that does not listen is killed."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    if process.poll() is None:
        process.kill()
    process.wait()
