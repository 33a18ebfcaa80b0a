"""A module of an application as a process of this machine."""

from __future__ import annotations

import signal
import subprocess
import time
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from gradiva.common import ConfigError
from gradiva.yarp_modules.application.application import LOCAL_NODES, ApplicationModule
from gradiva.yarp_modules.application.application_network import ApplicationNetwork
from gradiva.yarp_modules.application.marked_processes import send_signal
from gradiva.yarp_modules.application.module_program import command_of, environment_of, work_folder_of


class ModuleState(StrEnum):
    """How a module fares."""

    WAITING = "waiting"  # for its turn, or for what it depends on
    RUNNING = "running"
    ENDED = "ended"  # by itself, with status 0
    FAILED = "failed"  # ended by itself with another status, or by a signal of others
    STOPPING = "stopping"
    STOPPED = "stopped"
    ELSEWHERE = "elsewhere"  # on a computer that only yarpmanager reaches


class RunningModule:
    """Starts, watches and ends one module; what it prints goes to a file, so that it never waits for a reader.

    Attributes:
        title: Its name within the application.
        module: What the application says of it.
        log_file: What it prints.
        state: How it fares, at the last `look`.
        waits_for: What it depends on and is not there; empty if there is none.
        exit_status: Of its process, negative for a signal; None before the end.
        restarts: How often it was started again.
        lifetime: Of the process that ended last, [s].
        health: What it tells of itself.
    """

    def __init__(self, title: str, module: ApplicationModule, folder: Path, network: ApplicationNetwork) -> None:
        """Prepare; nothing is started.

        Raises:
            ConfigError: Its program or its folder is not there.
        """
        self.title = title
        self.module = module
        self.log_file = folder / f"{title}.log"
        self.state = ModuleState.WAITING if module.node in LOCAL_NODES else ModuleState.ELSEWHERE
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
        """Whether it runs on this machine."""
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
        """Whether its process runs."""
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
        """Tell it to quit over RPC; False if its port is not known or does not answer."""
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
        try:
            with self.log_file.open("rb") as log:
                log.seek(max(0, log.seek(0, 2) - 4096))
                lines = log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

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
