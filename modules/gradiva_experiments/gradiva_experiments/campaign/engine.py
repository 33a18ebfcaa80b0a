"""Calls of one function on many workers: an interface of our own in front of dask.distributed.

Nothing else of the package imports the library. What is known to go wrong with it is kept away here:

- Its workers are daemons with threads: each call runs in a child process of the worker (`worker_process`), spawned,
  without threads, which keeps models and compiled functions from call to call, and is replaced when it dies, hangs or
  has grown.
- Its scheduler's memory grows with the number of tasks: a task is a batch of calls that lasts about `_BATCH_TIME`, and
  a worker has at most `_PREFETCHED` of them.
- A task that is lost is repeated as a whole: each answer is sent as soon as there is one, and of a lost batch what has
  no answer yet is given out again.
"""

from __future__ import annotations

import json
import logging
import math
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import dask.config
from distributed import Client, Future, LocalCluster, WorkerPlugin, get_worker

from gradiva_experiments.campaign.driver import Answer, EngineError

_BATCH_TIME = 30.0  # [s] of calls that are one task
_PREFETCHED = 2  # [batches] of a worker: it never waits for the driver
_QUEUED = 4  # [batches] of a worker in the driver's queue, that the size of a batch does not shrink with it
_LARGEST_BATCH = 500  # [calls]
_ATTEMPTS = 5  # [-] a call that is first in so many lost batches is an error
_LOST_FOR = 600.0  # [s] for which a lost scheduler is waited for
_LOOK_PERIOD = 0.5  # [s] between looks at the connection
_LARGEST_MEMORY = 3000.0  # [MB] a child process that has grown beyond it is replaced
_LIFETIME = 2000  # [calls] after which it is replaced in any case
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_DASK = {
    "distributed.scheduler.allowed-failures": 0,  # a lost batch is given out again by `Engine`, without its answers
    "distributed.comm.timeouts.connect": "60s",  # workers start slowly beside walks
    "distributed.comm.timeouts.tcp": "120s",
    "distributed.worker.multiprocessing-method": "spawn",
    "distributed.scheduler.worker-ttl": "10 minutes",
    # Measurements of its processes by themselves, 4 % of a core each: of two cores that walk an eighth of one.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
}


def dask_environment() -> dict[str, str]:
    """Return environment variables that give a scheduler or a worker of one's own the settings of this engine."""
    return {f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": str(value) for key, value in _DASK.items()}


Call = tuple[str, Any]
"""Key and argument."""


@dataclass(slots=True, eq=False)
class _Batch:
    """Calls that were given out together."""

    calls: list[Call]
    future: Future


@dataclass(slots=True, eq=False)
class Engine:
    """Runs calls on a scheduler's workers, or on a cluster of this machine; use it in a ``with`` statement.

    Attributes:
        function: ``package.module:function`` of one argument; it returns what JSON holds.
        scheduler: Address, as ``tcp://host:8786``; empty: a cluster of this machine, which ends with the engine.
        workers: Number of workers of that cluster; None: one for each core that this process may use.
        timeout: Time after which a call is given up, [s].
        note: Called with a line when the scheduler is lost or found again.
        in_threads: Whether the workers of that cluster are threads of this process, as in tests.
    """

    function: str
    scheduler: str = ""
    workers: int | None = None
    timeout: float = 600.0
    note: Callable[[str], None] = lambda line: None
    in_threads: bool = False
    _cluster: LocalCluster | None = None
    _client: Client | None = None
    _queue: deque[Call] = field(default_factory=deque)
    _batches: dict[str, _Batch] = field(default_factory=dict)
    _messages: queue.SimpleQueue[tuple[str, Any]] = field(default_factory=queue.SimpleQueue)
    _open: set[str] = field(default_factory=set)
    _is_broken: bool = False
    _losses: dict[str, int] = field(default_factory=dict)
    _durations: deque[float] = field(default_factory=lambda: deque(maxlen=200))
    _topic: str = field(default_factory=lambda: f"gradiva-{uuid.uuid4().hex}")

    def __enter__(self) -> Engine:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its warnings are handled here
        dask.config.set(_DASK)
        os.environ.update(_ONE_THREAD)
        try:
            if not self.scheduler:
                self._cluster = self._local_cluster()
            self._connect(60.0)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop what is not answered; the cluster of this machine ends."""
        for closing in (self._client, self._cluster):
            if closing is not None:
                with suppress(Exception):
                    closing.close(timeout=5)

    # -- calls -----------------------------------------------------------------------------------------------------

    @property
    def dashboard(self) -> str:
        """Address of the page on which the scheduler shows what it does."""
        return str(self._client.dashboard_link) if self._client is not None else ""

    @property
    def worker_count(self) -> int:
        """Number of calls that run at once; at least 1, also while there is no worker yet."""
        assert self._client is not None, "within its with statement"
        found = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return max(1, sum(worker["nthreads"] for worker in found))

    @property
    def wants_more(self) -> bool:
        """Whether further calls should be put, so that no worker idles and batches are long."""
        return len(self._queue) < _QUEUED * self.worker_count * self._batch_size

    def put(self, key: str, argument: Any) -> None:
        """Queue a call; its answer comes under ``key``, which no open call has."""
        assert key not in self._open, f"{key} is asked for already"
        self._open.add(key)
        self._queue.append((key, argument))

    def withdraw(self, keys: set[str]) -> None:
        """Forget open calls whose answers are of no use any more; those that run go on, unheard."""
        self._open -= keys
        self._queue = deque(call for call in self._queue if call[0] in self._open)

    def next(self, timeout: float) -> tuple[str, Answer] | None:
        """Return key and answer of the next call that ends; None after a time [s] without one, or with none open.

        Raises:
            EngineError: The scheduler was lost, and did not come back.
        """
        end = time.monotonic() + timeout
        while self._open:
            if self._is_lost():
                self._find_again()
            self._give_out()
            try:
                kind, content = self._messages.get(timeout=min(_LOOK_PERIOD, max(0.0, end - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= end:
                    return None
                continue
            found = self._answered(*content) if kind == "answer" else self._ended(content)
            if found is not None:
                return found
        return None

    def _answered(self, key: str, answer: Mapping[str, Any]) -> tuple[str, Answer] | None:
        if key not in self._open:  # of a batch that was thought to be lost
            return None
        self._open.discard(key)
        self._durations.append(float(answer["wall_s"]))
        return key, Answer(**answer)

    def _ended(self, name: str) -> tuple[str, Answer] | None:
        """Give out again what a batch has left without an answer; return that of a call that loses its worker again."""
        batch = self._batches.pop(name, None)
        left = [call for call in batch.calls if call[0] in self._open] if batch is not None else []
        if not left or batch is None:
            return None
        key, is_error = left[0][0], batch.future.status == "error"
        self._is_broken |= not is_error  # answers, or the whole batch, were lost on their way
        self._losses[key] = self._losses.get(key, 0) + is_error
        if self._losses[key] < _ATTEMPTS:
            self._queue.extendleft(reversed(left))
            return None
        self._queue.extendleft(reversed(left[1:]))
        self._open.discard(key)
        return key, Answer(None, f"its worker died {_ATTEMPTS} times: {batch.future.exception()}")

    # -- batches ---------------------------------------------------------------------------------------------------

    @property
    def _batch_size(self) -> int:
        """Number of calls that last `_BATCH_TIME`; one until their duration is known."""
        if not self._durations:
            return 1
        mean = sum(self._durations) / len(self._durations)
        return max(1, min(_LARGEST_BATCH, round(_BATCH_TIME / max(mean, 1e-3))))

    def _give_out(self) -> None:
        """Submit batches until each worker has `_PREFETCHED`; towards the end they are small, that all end together."""
        assert self._client is not None, "within its with statement"
        workers = self.worker_count
        while self._queue and len(self._batches) < _PREFETCHED * workers:
            size = min(self._batch_size, math.ceil(len(self._queue) / (_PREFETCHED * workers)))
            self._submit([self._queue.popleft() for _ in range(size)])

    def _submit(self, calls: list[Call]) -> None:
        assert self._client is not None, "within its with statement"
        name = f"batch-{uuid.uuid4().hex}"
        future = self._client.submit(
            run_batch, self.function, calls, self._topic, self.timeout, key=name, pure=False, retries=0
        )
        self._batches[name] = _Batch(calls, future)
        future.add_done_callback(lambda done: self._messages.put(("end", name)))

    # -- scheduler and workers -------------------------------------------------------------------------------------

    def _local_cluster(self) -> LocalCluster:
        """Start a cluster of this machine; Ctrl-C, which reaches all processes of a terminal, is left to the driver.

        Raises:
            KeyboardInterrupt: There was one meanwhile.
        """
        count = self.workers or len(os.sched_getaffinity(0))
        options: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1, "host": "127.0.0.1"}
        if self.in_threads:
            options = {"n_workers": 1, "threads_per_worker": count, "processes": False}
        options |= {"dashboard_address": ":0" if self.in_threads else "127.0.0.1:0"}
        with noted_interrupts() as interrupts:
            cluster = LocalCluster(**options, memory_limit=0, silence_logs=logging.CRITICAL)
        if interrupts:
            cluster.close()
            raise KeyboardInterrupt
        return cluster

    def _connect(self, timeout: float) -> None:
        try:
            self._client = Client(self._cluster or self.scheduler, timeout=timeout, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(f"no scheduler answers at {self.scheduler}: {error}") from None
        self._client.subscribe_topic(self._topic, self._take_event)
        if self._cluster is not None and not self.in_threads:
            self._client.register_plugin(_LeavesInterrupts())

    def _take_event(self, event: tuple[float, str]) -> None:
        self._messages.put(("answer", json.loads(event[1])))

    def _is_lost(self) -> bool:
        """Return whether the connection is lost, or was: of the client's own new one no topic is subscribed."""
        return self._is_broken or self._client is None or self._client.status != "running"

    def _find_again(self) -> None:
        """Wait for a scheduler at the same address, and give out again what the lost one had."""
        if self._cluster is not None:
            raise EngineError("the scheduler of this process has ended")
        self.note(f"the scheduler {self.scheduler} is lost: waiting for it for up to {_LOST_FOR / 60.0:.0f} minutes")
        if self._client is not None:
            with suppress(Exception):
                self._client.close(timeout=5)
        self._batches, given_out = {}, [call for batch in self._batches.values() for call in batch.calls]
        self._queue.extendleft(call for call in reversed(given_out) if call[0] in self._open)
        end = time.monotonic() + _LOST_FOR
        while True:
            try:
                self._connect(5.0)
                break
            except EngineError:
                if time.monotonic() > end:
                    raise
        self._is_broken = False
        self.note(f"the scheduler {self.scheduler} is back")


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Note Ctrl-C; processes that are started meanwhile do not get it.

    They inherit the blocked signal of the threads that start them, which are begun within. A thread from before may
    take it for this process all the same: so it is noted, and not ignored.
    """
    noted: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    resource_tracker.ensure_running()  # which else unblocks the signal in the thread that starts the first process
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    before = signal.signal(signal.SIGINT, lambda number, _: noted.append(number)) if is_main else None
    try:
        yield noted
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if is_main:
            signal.signal(signal.SIGINT, before)


class _LeavesInterrupts(WorkerPlugin):
    """Lets the workers of this machine's cluster ignore Ctrl-C, also those that replace killed ones."""

    def setup(self, worker: Any) -> None:
        """Called in the main thread of the worker."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


# -- on a worker -----------------------------------------------------------------------------------------------------


def run_batch(function: str, calls: Sequence[Call], topic: str, timeout: float) -> int:
    """Carry out calls in the child process of this thread; send each answer at once; return how many there were."""
    worker = get_worker()
    for key, argument in calls:
        answer = _child().call(function, argument, timeout)
        if answer["error"] == _KILLED:  # from outside, or for want of memory: once more, in a new process
            answer = _child().call(function, argument, timeout)
        worker.log_event(topic, json.dumps([key, answer]))
    return len(calls)


_KILLED = "its process was killed by SIGKILL"


_children = threading.local()  # of the threads of a worker, of which ours have one


def _child() -> WalkProcess:
    child = getattr(_children, "child", None)
    if child is None or child.is_worn_out:
        if child is not None:
            child.end()
        _children.child = child = WalkProcess()
    return child


class WalkProcess:
    """A process that carries out calls; its temporary files lie in a folder that goes with it, also when it is killed.

    Attributes:
        name: Host and number of the process.
        is_worn_out: Whether it is to be replaced.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the process
        self._files = tempfile.TemporaryDirectory(prefix="gradiva-campaign-", ignore_cleanup_errors=True)
        program = Path(__file__).with_name("worker_process.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={
                **os.environ,
                **_ONE_THREAD,
                "TMPDIR": self._files.name,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
        )
        theirs.close()
        self.name = f"{socket.gethostname()}:{self._process.pid}"
        self._connection = Connection(ours.detach())
        self._calls, self.is_worn_out = 0, False

    def call(self, function: str, argument: Any, timeout: float) -> dict[str, Any]:
        """Return the answer; that of a process that dies or hangs is an error."""
        started = time.perf_counter()
        try:
            self._connection.send((function, argument))
            if self._connection.poll(timeout):
                answer: dict[str, Any] = {**self._connection.recv(), "worker": self.name}
                self._calls += 1
                self.is_worn_out = self._calls >= _LIFETIME or answer["memory_mb"] > _LARGEST_MEMORY
                return answer
            error = f"no answer within {timeout:g} s"
        except (EOFError, OSError):
            error = self._last_words()
        self.end()
        cost = {"wall_s": time.perf_counter() - started, "memory_mb": 0.0, "worker": self.name}
        return {"value": None, "error": error, **cost}

    def end(self) -> None:
        """End the process; the next call gets another one."""
        self.is_worn_out = True
        self._connection.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()
        self._files.cleanup()

    def _last_words(self) -> str:
        status = self._process.wait()
        self._errors.seek(0)
        text = self._errors.read()[-2000:].decode(errors="replace").strip()
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        is_killed = status == -signal.SIGKILL
        return _KILLED if is_killed else f"its process {how}{': ' if text else ''}{text}"
