"""Records who runs an application, and clears the processes and names that a killed run has left."""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import re
import signal
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Event

from gradiva.common import ConfigError, StateError
from gradiva.middleware import DEFAULT_NAMESPACE
from gradiva.yarp_modules.application.running_module import (
    ApplicationNetwork,
    Ending,
    EndTimeouts,
    carries,
    end_process,
    marked_processes,
    send_signal,
)

_BESIDE_IT = (
    "run yours beside it on a YARP network of its own: in each of your terminals `export YARP_NAMESPACE=/NAME`, then"
    " `gradiva yarpserver --port 10001 --write` in one of them"
)


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """Identifies a process of an application.

    Attributes:
        title: Of the module.
        process: Its number.
        port: Prefix of its ports, where it can be asked to quit; empty if that is not known.
    """

    title: str
    process: int
    port: str


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Identifies who runs an application, and where: two users may share an account, two machines a home directory.

    Attributes:
        user: Name of the account.
        host: Of the runner.
        terminal: Of the runner, with the address from which it is used over SSH; empty without one.
        begun: Date and time of day.
        namespace: Of the YARP network.
    """

    user: str = ""
    host: str = ""
    terminal: str = ""
    begun: str = ""
    namespace: str = DEFAULT_NAMESPACE

    @classmethod
    def here(cls, namespace: str) -> RunOrigin:
        """Return the origin of a run by this process."""
        remote = os.environ.get("SSH_CONNECTION", "").partition(" ")[0]
        return cls(
            user=_user(),
            host=socket.gethostname(),
            terminal=" over SSH from ".join(part for part in (_terminal(), remote) if part),
            begun=f"{datetime.now():%Y-%m-%d %H:%M}",
            namespace=namespace,
        )

    @property
    def is_here(self) -> bool:
        """Return whether its processes are those of this machine."""
        return self.host in ("", socket.gethostname())

    def __str__(self) -> str:
        """Return what follows "process 17"."""
        who = f" of {self.user} on {self.host}" if self.user else ""
        return who + (f", {self.terminal}" if self.terminal else "") + (f", since {self.begun}" if self.begun else "")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Records one run of an application.

    Attributes:
        application: Its name.
        runner: Number of the process that runs it.
        mark: What its processes carry (`marked_processes`).
        folder: What it writes.
        ports_before: Names that were registered before it began.
        started: Its processes, in the order in which they began.
        origin: Who runs it, and where.
    """

    application: str
    runner: int
    mark: str
    folder: str
    ports_before: tuple[str, ...] = ()
    started: tuple[StartedProcess, ...] = ()
    origin: RunOrigin = field(default_factory=RunOrigin)

    def process_at(self, port: str) -> StartedProcess | None:
        """Return the process whose ports begin with ``port``; None where there is none."""
        return next((each for each in self.started if each.port == port), None)

    def holds(self, port: str) -> bool:
        """Return whether a process of this machine that still runs has, or is about to open, ports at ``port``."""
        started = self.process_at(port)
        return started is not None and carries(started.process, self.mark)


class AlreadyRunsError(StateError):
    """Reports that another run has the claim of the application, or ports of its modules.

    Attributes:
        record: Of the other run; None in the moment in which it begins, and where no run of this machine is known.
    """

    def __init__(self, application: str, record: RunRecord | None, port: str = "", address: str = "") -> None:
        """Describe the other run.

        Args:
            application: The one that is refused.
            record: Of the other run.
            port: Prefix of ports that both would have; empty where both are runs of ``application``.
            address: Where ``port`` answers.
        """
        known = "" if record is None else f" (process {record.runner}{record.origin}; folder {record.folder})"
        host = "" if record is None or record.origin.is_here else f" on {record.origin.host}"
        other = application if record is None else record.application
        is_running, end = f"{other} is running already{known}", f"stop it by `gradiva app stop {other}`{host}"
        if port and record is None:
            is_running = f"a module at {port} answers already on this YARP network, at {address}"
            end = "end it there, leave ours out (--without)"
        blocked = f"{application} cannot have the ports {port}: " if port else ""
        super().__init__(f"{blocked}{is_running}: {end}, or {_BESIDE_IT}")
        self.record = record


class RunClaim:
    """Holds the right to run an application on this machine, and the record of its run."""

    def __init__(self, folder: Path, application: str) -> None:
        """Name the files; nothing is read or written."""
        stem = re.sub(r"[^\w.+-]+", "-", application)
        self.application = application
        self._record_file = folder / f"{stem}.json"
        self._lock_file = folder / f"{stem}.lock"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the claim; it ends with the process, however that ends.

        Raises:
            AlreadyRunsError: Another runner holds it.
        """
        self._lock_file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = self._locked()
        try:
            yield
        finally:
            with suppress(OSError):
                self._lock_file.unlink()
            os.close(descriptor)

    def read(self) -> RunRecord | None:
        """Return the record, or None where nothing runs and nothing was left."""
        try:
            entries = json.loads(self._record_file.read_text(encoding="utf-8"))
            started = tuple(StartedProcess(**each) for each in entries.pop("started"))
            origin = RunOrigin(**entries.pop("origin", {}))
            return RunRecord(
                **{**entries, "ports_before": tuple(entries["ports_before"]), "started": started, "origin": origin}
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, record: RunRecord) -> None:
        """Keep a record, whole or not at all."""
        draft = self._record_file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(record), indent=2), encoding="utf-8")
        draft.replace(self._record_file)

    def clear(self) -> None:
        """Forget the record: nothing is left of the run."""
        self._record_file.unlink(missing_ok=True)

    def _locked(self) -> int:
        while True:
            descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                raise AlreadyRunsError(self.application, self.read()) from None
            if _is_still(self._lock_file, descriptor):
                return descriptor
            os.close(descriptor)  # its former holder has just taken the file away


def records_folder(namespace: str = DEFAULT_NAMESPACE) -> Path:
    """Return where records of the runs on a YARP network are kept; XDG_STATE_HOME moves it.

    Raises:
        ConfigError: It is not set, and the account has no home folder.
    """
    try:
        base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    except RuntimeError:
        text = "this account has no home folder for the records of runs: set HOME or XDG_STATE_HOME"
        raise ConfigError(text) from None
    folder = Path(base) / "gradiva" / "applications"
    return folder if namespace == DEFAULT_NAMESPACE else folder / re.sub(r"[^\w.+-]+", "-", namespace).strip("-")


def _user() -> str:
    """Return the name of the account; its number where it has none, as in containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _terminal() -> str:
    """Return the terminal of this process; empty without one, or where a container does not see it."""
    try:
        return os.ttyname(0)
    except OSError:
        return ""


def claims_below(folder: Path) -> list[RunClaim]:
    """Return the claims of all applications that run or have left something."""
    records = (RunClaim(folder, path.stem).read() for path in sorted(folder.glob("*.json")))
    return [RunClaim(folder, record.application) for record in records if record is not None]


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


class LeftProcess:
    """Is a process of a run whose runner is gone."""

    def __init__(self, started: StartedProcess, mark: str, network: ApplicationNetwork) -> None:
        self.started = started
        self._mark = mark
        self._network = network

    @property
    def is_alive(self) -> bool:
        """Return whether it runs; another process that has got its number does not count."""
        return carries(self.started.process, self._mark)

    def ask_to_quit(self) -> bool:
        """Ask it to quit over RPC."""
        return bool(self.started.port) and self._network.quit(self.started.port)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self.is_alive:
            send_signal(self.started.process, number)


def end_modules(record: RunRecord, network: ApplicationNetwork, timeouts: EndTimeouts, hurry: Event) -> list[str]:
    """End the modules of a run, the last one first; return the titles of those that ran."""
    ended = []
    for started in reversed(record.started):
        process = LeftProcess(started, record.mark, network)
        if process.is_alive:
            ended.append(started.title)
            end_process(process, timeouts, hurry)
    return ended


def end_marked(mark: str, timeouts: EndTimeouts, hurry: Event, spared: Iterable[int] = ()) -> list[int]:
    """End all processes that carry ``mark``, children of modules as well; return those that do not end."""
    network = ApplicationNetwork()  # no port is asked
    immortal = []
    for number in set(marked_processes(mark)) - set(spared):
        process = LeftProcess(StartedProcess("", number, ""), mark, network)
        if end_process(process, timeouts, hurry) is Ending.IMMORTAL:
            immortal.append(number)
    return immortal


def forget_ports(ports_before: Iterable[str], network: ApplicationNetwork) -> list[str]:
    """Unregister the ports that came after ``ports_before`` and do not answer; return which."""
    return network.forget_dead(sorted(network.names() - set(ports_before)))
