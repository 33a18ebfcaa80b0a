"""Jobs of an experiment on an engine, and a journal of their values: a run that is interrupted goes on from it."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from gradiva.common import WalkingError
from gradiva.telemetry import plain
from gradiva_experiments.campaign.driver import Answer, AnyEngine, EngineError, InProcess, Search, carry_out
from gradiva_experiments.campaign.trial_rows import KEY, TrialRows, read_rows, when_writable

_TIMEOUT = 3600.0  # [s] after which a job is given up
_LARGEST = 8  # [processes] beyond it, memory and not the processor is what runs short
T = TypeVar("T")


class PoolBusyError(WalkingError):
    """Searches are begun while others of the same pool are open."""


class Job:
    """One call of a worker: a dataclass, whose fields are pickled, with a method `run`."""

    __slots__ = ()

    @property
    def key(self) -> str:
        """Digest of its fields."""
        given = [getattr(self, each.name) for each in fields(cast(Any, self))]
        return digest([type(self).__qualname__, *(value.key if isinstance(value, Job) else value for value in given)])

    @property
    def argument(self) -> bytes:
        """Pickled, so that only the process that runs it loads its modules."""
        return pickle.dumps(self)

    def run(self) -> Any:
        """Do it, in the process of a worker, and return what JSON can hold.

        Raises:
            WalkingError: The configuration is wrong.
        """
        raise NotImplementedError

    def result(self, value: Any) -> Any:
        """Return the result, from the value of `run` after it was JSON."""
        return value

    def done(self) -> Search[Any]:
        """Return the search of this job alone: within another one ``result = yield from job.done()``."""
        row = yield self
        return self.result(json.loads(row["value"]))

    def row(self, answer: Answer) -> dict[str, Any]:
        """Return the row of the journal.

        Raises:
            WalkingError: The job was refused, or failed.
        """
        if answer.error:
            raise EngineError(answer.error)
        value, refusal = answer.value
        if refusal:
            raise WalkingError(refusal)
        about = {"wall_s": answer.wall_s, "memory_mb": answer.memory_mb, "worker": answer.worker}
        return {KEY: self.key, "value": json.dumps(value), **about}


_PROGRESS = "GRADIVA_PROGRESS"  # name of a file, for the workers of this machine, which inherit it


@contextmanager
def progress_of_jobs(path: Path) -> Iterator[Callable[[], str]]:
    """Have running jobs write what they do into a file; yield a function that reads it. The file is gone afterwards.

    Pools that are entered before, and workers of a scheduler of one's own, know nothing of it.
    """

    def now() -> str:
        with suppress(OSError, ValueError):
            return path.read_text(encoding="utf-8")
        return ""

    os.environ[_PROGRESS] = str(path)
    try:
        yield now
    finally:
        del os.environ[_PROGRESS]
        path.unlink(missing_ok=True)


def show_progress(text: str) -> None:
    """Write what a job does, in one line, over what was written before; nothing outside of `progress_of_jobs`."""
    if path := os.environ.get(_PROGRESS):
        with suppress(OSError):
            Path(path).write_text(text, encoding="utf-8")


def run_job(pickled: bytes) -> tuple[Any, str]:
    """Run a job in the process of a worker; return what it returned, or None and why it was refused."""
    try:
        return plain(pickle.loads(pickled).run()), ""
    except WalkingError as error:
        return None, str(error) or type(error).__name__


def digest(value: Any) -> str:
    """Return a digest of what `plain` makes of a value."""
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True, default=str).encode()).hexdigest()


@dataclass(slots=True, eq=False)
class Pool:
    """Carries out jobs side by side; use it in a ``with`` statement.

    Attributes:
        workers: Processes of this machine, of which one is this process; None: one for each core that it may use.
        scheduler: Address of a dask scheduler, whose workers are used instead.
        folder: Folder of the journal; None: there is none.
        note: Called with a line that the user should read.
    """

    workers: int | None = None
    scheduler: str = ""
    folder: Path | None = None
    note: Callable[[str], None] = lambda line: None
    _known: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _rows: TrialRows | None = None
    _engine: AnyEngine | None = None
    _is_searching: bool = False
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Pool:
        if self.folder is not None:
            self._rows = self._open.enter_context(TrialRows(self.folder))
            self._known = {row[KEY]: row for row in read_rows(self.folder)}
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def searches(self, searches: Sequence[Search[T]]) -> Iterator[tuple[int, T]]:
        """Carry out searches, whose trials are jobs; yield place and result of each as it ends.

        A job that fails ends its searches; the others go on, and are in the journal before the error is raised.

        Raises:
            PoolBusyError: The pool carries out other searches, of which not all results were taken.
            WalkingError: A job was refused, or failed.
        """
        if self._is_searching:
            raise PoolBusyError("the pool carries out other jobs: take all their results first, or use another pool")
        self._is_searching = True
        try:
            self._engine = self._engine or self._open.enter_context(self.engine(f"{__name__}:{run_job.__name__}"))
            yield from carry_out(searches, self._engine, self._keep, self._known)
        finally:
            self._is_searching = False

    def results(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Any]]:
        """Carry out jobs; yield place and result of each as it ends.

        Raises:
            WalkingError: A job was refused, or failed.
        """
        return self.searches([job.done() for job in jobs])

    def grouped(self, groups: Sequence[Sequence[Job]]) -> Iterator[tuple[int, list[Any]]]:
        """Carry out groups of jobs; yield the place of each group, as its last job ends, and its results in order.

        Raises:
            WalkingError: A job was refused, or failed.
        """
        owners = [place for place, group in enumerate(groups) for _ in group]
        found: list[dict[int, Any]] = [{} for _ in groups]
        for number, result in self.results([job for group in groups for job in group]):
            owner = owners[number]
            found[owner][number] = result
            if len(found[owner]) == len(groups[owner]):
                yield owner, [found[owner][each] for each in sorted(found[owner])]

    def engine(self, function: str) -> AbstractContextManager[AnyEngine]:
        """Return an engine that calls a function, ``package.module:function``, on the pool's workers."""
        workers = self.workers or min(_LARGEST, len(os.sched_getaffinity(0)))
        if workers == 1 and not self.scheduler:
            return InProcess(function, note=self.note)
        from gradiva_experiments.campaign.engine import Engine

        return Engine(function, self.scheduler, workers, _TIMEOUT, self.note)

    def _keep(self, row: Mapping[str, Any]) -> None:
        rows = self._rows
        if rows is not None:
            when_writable(lambda: rows.add(row), rows.folder, self.note)
