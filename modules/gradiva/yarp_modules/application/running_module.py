"""Runs one module of an application as a process: its program, restarts, and its end by RPC and signals."""

from __future__ import annotations

import math
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import BinaryIO, Protocol

from gradiva.common import ConfigError
from gradiva.middleware import Element, as_items, ask, is_there, registered_names, yarp
from gradiva.yarp_modules.application.application import ApplicationModule
from gradiva.yarp_modules.rpc_commands import is_ok, pairs_in

_LONGEST_SLEEP = 0.2  # [s]; a signal that comes while the thread falls asleep is handled when it wakes up
_SHORTEST, _LONGEST = 1.0, 30.0  # [s]
_SETTLED = 60.0  # [s] of life after which the delay begins anew
_DEVICE = "yarpdev"
_LOOK = 0.02  # [s]
_ANSWER_TIMEOUT = 2.0  # [s]
_GLANCE = 0.5  # [s] for what is asked every second
MARK = "GRADIVA_APPLICATION_RUN"  # environment variable


class RunningModule:
    """Starts, watches and ends one module; its output goes to a file, so that it never waits for a reader.

    Attributes:
        title: Its name within the application.
        module: Its description in the application.
        log_file: What it prints.
        state: How it fares, at the last `look`.
        waits_for: What it depends on and is not there; empty if there is none.
        exit_status: Of its process, negative for a signal; None before the end.
        restarts: How often it was started again.
        lifetime: Of the process that ended last, [s].
        health: Its last reply to getHealth.
    """

    def __init__(self, title: str, module: ApplicationModule, folder: Path, network: ApplicationNetwork) -> None:
        """Prepare; nothing is started.

        Raises:
            ConfigError: Its program or its folder is not there.
        """
        self.title = title
        self.module = module
        self.log_file = folder / f"{title}.log"
        self.state = ModuleState.WAITING if module.is_local else ModuleState.ELSEWHERE
        self.waits_for = ""
        self.exit_status: int | None = None
        self.restarts = 0
        self.lifetime = 0.0
        self.health: dict[str, object] = {}
        self._network = network
        self._process: subprocess.Popen[bytes] | None = None
        self._begin = 0.0
        if self.is_local:
            self._command, self._folder = command_of(module), work_folder_of(module)

    @property
    def is_local(self) -> bool:
        """Return whether it runs on this machine."""
        return self.state is not ModuleState.ELSEWHERE

    @property
    def process(self) -> int | None:
        """Number of its process, or None when there is none."""
        return self._process.pid if self._process is not None and self.is_alive else None

    @property
    def uptime(self) -> float:
        """Since it was started, [s]; zero when it does not run."""
        return time.monotonic() - self._begin if self.is_alive else 0.0

    @property
    def is_alive(self) -> bool:
        """Return whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self, mark: str) -> None:
        """Start its process, which carries ``mark``.

        Raises:
            ConfigError: The system refuses.
        """
        self.restarts += self._process is not None
        try:
            with self.log_file.open("ab") as log:
                self._process = self._popen(log, mark)
        except OSError as error:
            raise ConfigError(f"{self.module.place}: {self._command[0]}: {error.strerror}") from None
        self._begin, self.exit_status, self.health = time.monotonic(), None, {}
        self.state, self.waits_for = ModuleState.RUNNING, ""

    def look(self) -> bool:
        """Bring `state` up to date; return whether it has just ended by itself."""
        if self.state is not ModuleState.RUNNING or self._process is None or self.is_alive:
            return False
        self.exit_status, self.lifetime = self._process.returncode, time.monotonic() - self._begin
        self.state = ModuleState.ENDED if self.exit_status == 0 else ModuleState.FAILED
        self.health = {}
        return True

    def ask_to_quit(self) -> bool:
        """Ask it to quit over RPC; False if its port is not known or does not answer."""
        return bool(self.module.port) and self._network.quit(self.module.port)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and its children."""
        if self._process is not None and self.is_alive:
            send_signal(self._process.pid, number)

    def note_end(self) -> None:
        """Record that it was ended."""
        if self._process is not None:
            self.exit_status, self.state = self._process.poll(), ModuleState.STOPPED

    def last_words(self) -> str:
        """Return the last line that it printed."""
        return next((line.strip() for line in reversed(self.lines()) if line.strip()), "")

    def lines(self) -> list[str]:
        """Return the lines that it printed last."""
        try:
            with self.log_file.open("rb") as log:
                log.seek(max(0, log.seek(0, 2) - 4096))
                return log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return []

    def _popen(self, log: BinaryIO, mark: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=self._folder,
            env=environment_of(self.module, mark),
            start_new_session=True,  # Ctrl-C is the runner's: it ends them in their order
        )


class SignalledEvent(threading.Event):
    """Is an event that may be set in a signal handler, once and for all.

    A handler runs in the main thread between any two of its instructions. Where that thread is just entering ``wait``
    it holds the lock of a plain event, and ``set`` would wait for it for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._has_come = False
        self._arrived: queue.SimpleQueue[None] = queue.SimpleQueue()  # its put() is safe in a signal handler

    def is_set(self) -> bool:
        """Return whether it has been set."""
        return self._has_come

    def set(self) -> None:
        """Set it; waiting threads go on."""
        self._has_come = True
        self._arrived.put(None)

    def clear(self) -> None:
        """Refuse.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("what a signal has asked for stays asked for")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, for at most a time [s]; return whether it is."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while not self._has_come and (rest := deadline - time.monotonic()) > 0.0:
            with suppress(queue.Empty):
                self._arrived.get(timeout=min(rest, _LONGEST_SLEEP))
                self._arrived.put(None)  # for others who wait
        return self._has_come


class RestartBackoff:
    """Delays restarts; the delay doubles each time, so that a module that fails at once does not load the machine."""

    def __init__(self) -> None:
        self._delay = 0.0
        self._due = 0.0

    @property
    def duration(self) -> float:
        """Duration of the present delay, [s]."""
        return self._delay

    def note_end(self, lifetime: float) -> None:
        """Begin a delay after a module that lived for ``lifetime`` [s]."""
        doubled = min(2.0 * self._delay, _LONGEST)
        self._delay = _SHORTEST if lifetime > _SETTLED else max(_SHORTEST, doubled)
        self._due = time.monotonic() + self._delay

    def is_over(self) -> bool:
        """Return whether it is time to start again."""
        return time.monotonic() >= self._due


def command_of(module: ApplicationModule) -> list[str]:
    """Return the program of a module and its arguments, as yarpmanager would call them.

    Raises:
        ConfigError: The program is not found.
    """
    if module.deployer == _DEVICE:
        return [_found(_DEVICE, module), "--device", module.program, *module.arguments]
    program = _found(module.program, module)
    interpreter = [_found(module.deployer, module)] if module.deployer else []
    return [*interpreter, program, *module.arguments]


def environment_of(module: ApplicationModule, mark: str) -> Mapping[str, str]:
    """Return the variables that a module sees; ``mark`` identifies its run."""
    own = {"YARP_PORT_PREFIX": module.prefix} if module.prefix else {}
    return {**os.environ, "PYTHONUNBUFFERED": "1", **module.environment, **own, MARK: mark}


def work_folder_of(module: ApplicationModule) -> Path:
    """Return where a module runs.

    Raises:
        ConfigError: There is no such folder.
    """
    folder = Path(os.path.expanduser(module.work_folder or "."))
    if not folder.is_dir():
        raise ConfigError(f"{module.place}: <workdir>: there is no folder {folder}")
    return folder


def _found(program: str, module: ApplicationModule) -> str:
    own = Path(sys.executable).parent  # first: another version of Gradiva may be on PATH
    folders = [module.work_folder, str(own), os.environ.get("PATH", os.defpath)]
    found = shutil.which(program, path=os.pathsep.join(filter(None, folders)))
    if found is None and module.deployer and Path(program).is_file():
        found = program  # a script needs not be executable
    if found is None:
        raise ConfigError(f"{module.place}: <name>: no program '{program}', neither in {own} nor on PATH")
    return str(Path(found).absolute())


class Ending(StrEnum):
    """Names the means that ended a process."""

    QUIT = "quit"
    TERMINATED = "terminated"
    KILLED = "killed"
    IMMORTAL = "does not end"


class Endable(Protocol):
    """Is a process that can be ended."""

    @property
    def is_alive(self) -> bool:
        """Return whether it runs."""
        ...

    def ask_to_quit(self) -> bool:
        """Ask it over RPC; False if it cannot be asked, or does not answer."""
        ...

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        ...


@dataclass(frozen=True, slots=True)
class EndTimeouts:
    """Holds the timeouts of the steps that end a process.

    Attributes:
        after_quit: [s] A robot that walks closes its feet first, for which its module takes 10 s at most.
        after_terminate: [s].
        after_kill: [s] only a process that hangs in the kernel needs more than a moment.
    """

    after_quit: float = 15.0
    after_terminate: float = 4.0
    after_kill: float = 2.0


def end_process(process: Endable, timeouts: EndTimeouts, hurry: Event) -> Ending:
    """End a process by quit, SIGTERM, SIGKILL; return what ended it; ``hurry`` leaves out the request to quit."""
    if not process.is_alive:
        return Ending.QUIT
    if not hurry.is_set() and process.ask_to_quit() and _ended(process, timeouts.after_quit, hurry):
        return Ending.QUIT
    process.send(signal.SIGTERM)
    if _ended(process, timeouts.after_terminate, hurry):
        return Ending.TERMINATED
    process.send(signal.SIGKILL)
    return Ending.KILLED if _ended(process, timeouts.after_kill, Event()) else Ending.IMMORTAL


def _ended(process: Endable, timeout: float, hurry: Event) -> bool:
    deadline = time.monotonic() + timeout
    while process.is_alive:
        if time.monotonic() >= deadline or hurry.is_set():
            return not process.is_alive
        time.sleep(_LOOK)
    return True


class ModuleState(StrEnum):
    """Names the states of a module."""

    WAITING = "waiting"  # for its turn, or for what it depends on
    RUNNING = "running"
    ENDED = "ended"  # by itself, with status 0
    FAILED = "failed"  # ended by itself with another status, or by a signal of others
    STOPPING = "stopping"
    STOPPED = "stopped"
    ELSEWHERE = "elsewhere"  # on a computer that only yarpmanager reaches


class ApplicationNetwork:
    """Asks ports and the name server. A port that does not answer is absent; nothing is raised."""

    def has(self, port: str) -> bool:
        """Return whether a port is registered and answers."""
        return is_there(port)

    def address(self, port: str) -> str:
        """Return where a port answers, as ``10.0.0.3:10004``; empty where it does not."""
        contact = yarp.Network.queryName(port) if self.has(port) else None
        return "" if contact is None else f"{contact.getHost()}:{contact.getPort()}"

    def replies(self, port: str, request: str, reply: str) -> bool:
        """Return whether a port answers ``request``, and by ``reply`` if that is not empty."""
        answer = ask(port, yarp.Bottle(request), _ANSWER_TIMEOUT)
        return answer is not None and (not reply or answer.toString() == yarp.Bottle(reply).toString())

    def quit(self, prefix: str) -> bool:
        """Ask the module at ``prefix`` to quit; False if there is no answer."""
        return ask(f"{prefix}/rpc", yarp.Bottle("quit"), _ANSWER_TIMEOUT) is not None

    def health(self, prefix: str) -> dict[str, Element]:
        """Return the health of the module at ``prefix``; empty if it does not answer."""
        answer = ask(f"{prefix}/rpc", yarp.Bottle("getHealth"), _GLANCE)
        items = [] if answer is None else as_items(answer)
        return pairs_in(items[1:]) if is_ok(items) else {}

    def names(self) -> frozenset[str]:
        """Return the names of all ports that are registered."""
        return registered_names()

    def forget_dead(self, names: Iterable[str]) -> list[str]:
        """Unregister those of ``names`` that do not answer; return which."""
        dead = [name for name in names if not is_there(name)]
        for name in dead:
            yarp.Network.unregisterName(name)
        return dead


def marked_processes(mark: str) -> list[int]:
    """Return the processes that carry ``mark``, without this one."""
    numbers = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return [number for number in numbers if number != os.getpid() and carries(number, mark)]


def carries(process: int, mark: str) -> bool:
    """Return whether a living process carries ``mark``; a zombie does not."""
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:  # it has ended, or belongs to another account
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def send_signal(process: int, number: signal.Signals) -> None:
    """Send a signal to a process and to its group, if it leads one."""
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process) == process:
            os.killpg(process, number)
        else:
            os.kill(process, number)
