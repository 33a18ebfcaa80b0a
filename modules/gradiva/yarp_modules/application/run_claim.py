"""Who runs an application, written down so that a later run finds what an earlier one has left."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from gradiva.common import StateError


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A process of an application.

    Attributes:
        title: Of the module.
        process: Its number.
        port: Prefix of its ports, where it can be told to quit; empty if that is not known.
    """

    title: str
    process: int
    port: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of an application.

    Attributes:
        application: Its name.
        runner: Number of the process that runs it.
        mark: What its processes carry (`marked_processes`).
        folder: What it writes.
        ports_before: Names that were registered before it began.
        started: Its processes, in the order in which they began.
    """

    application: str
    runner: int
    mark: str
    folder: str
    ports_before: tuple[str, ...] = ()
    started: tuple[StartedProcess, ...] = ()


class AlreadyRunsError(StateError):
    """Somebody else runs the application.

    Attributes:
        record: What is known of it; None in the moment in which it begins.
    """

    def __init__(self, application: str, record: RunRecord | None) -> None:
        process = f" (process {record.runner})" if record else ""
        super().__init__(f"{application} is running already{process}: gradiva app stop {application}")
        self.record = record


class RunClaim:
    """The right to run an application on this machine, and the record of its run."""

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
            AlreadyRunsError: Somebody else holds it.
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
            told = json.loads(self._record_file.read_text(encoding="utf-8"))
            started = tuple(StartedProcess(**each) for each in told.pop("started"))
            return RunRecord(**{**told, "ports_before": tuple(told["ports_before"]), "started": started})
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


def records_folder() -> Path:
    """Return where records of runs are kept; XDG_STATE_HOME moves it."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "gradiva" / "applications"


def claims_below(folder: Path) -> list[RunClaim]:
    """Return the claims of all applications that run or have left something."""
    records = (RunClaim(folder, path.stem).read() for path in sorted(folder.glob("*.json")))
    return [RunClaim(folder, record.application) for record in records if record is not None]


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
