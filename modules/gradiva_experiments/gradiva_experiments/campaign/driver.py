"""Carries out searches side by side on an engine: each yields trials, and is sent the row of each as it ends.

A search of one trial is a walk of a campaign; one that chooses its trials by the rows before is an adaptive campaign:
the highest speed, the gains of a candidate. A trial that has a row is not carried out again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from gradiva.common import WalkingError
from gradiva_experiments.campaign import worker_process

_WAIT = 1.0  # [s] for an answer, between looks at the progress

Row = Mapping[str, Any]
T = TypeVar("T")


class EngineError(WalkingError):
    """The scheduler cannot be reached, has no workers, or a trial of an experiment failed on one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a call.

    Attributes:
        value: Returned by the function, as JSON holds it; None after an error.
        error: Its traceback, or why there is no answer; empty where there is one.
        wall_s: Duration, [s].
        memory_mb: Memory of the process after the call, with what that has left in cycles, [MB].
        worker: Host and number of the process in which it ran.
    """

    value: Any
    error: str = ""
    wall_s: float = 0.0
    memory_mb: float = 0.0
    worker: str = ""


class Trial(Protocol):
    """One call of an engine's function."""

    @property
    def key(self) -> str:
        """Same for the same call."""

    @property
    def argument(self) -> Any:
        """Argument of the function."""

    def row(self, answer: Answer) -> dict[str, Any]:
        """Return what is kept of the answer.

        Raises:
            WalkingError: The answer is an error that ends all.
        """


Search = Generator[Any, Any, T]
"""Yields trials, is sent the row of each, and returns its result."""


class AnyEngine(Protocol):
    """Runs calls of a function: `campaign.engine.Engine`, or `InProcess`."""

    @property
    def note(self) -> Callable[[str], None]:
        """Called with a line that the user should read."""

    @property
    def wants_more(self) -> bool:
        """Whether further calls should be put, so that no worker idles."""

    def put(self, key: str, argument: Any) -> None:
        """Queue a call; its answer comes under ``key``, which no open call has."""

    def withdraw(self, keys: set[str]) -> None:
        """Forget open calls whose answers are of no use any more."""

    def next(self, timeout: float) -> tuple[str, Answer] | None:
        """Return key and answer of the next call that ends; None after a time [s] without one."""


def carry_out(
    searches: Iterable[Search[T]],
    engine: AnyEngine,
    keep: Callable[[dict[str, Any]], None],
    known: dict[str, Row] | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[tuple[int, T]]:
    """Carry out searches; yield place and result of each as it ends; calls that are open at the end are withdrawn.

    Args:
        searches: Searches, of which as many are begun as the engine wants calls.
        engine: Carries out their trials.
        keep: Called with each new row.
        known: Rows by key, to which those of this run are added; None where no trial is asked for twice.
        progress: Called after each answer, and once a second without one.

    Raises:
        EngineError: The engine has ended, or a trial failed: its searches end, and the others before this is raised.
        WalkingError: A trial was refused.
    """
    source, begun = enumerate(searches), _BegunSearches[T](engine, keep, known)
    try:
        while True:
            if not begun.ready and engine.wants_more and (first := next(source, None)) is not None:
                begun.ready.append((*first, None))
            if begun.ready:
                if (ended := begun.advance()) is not None:
                    yield ended
            elif begun.running:
                if (found := engine.next(_WAIT)) is not None:
                    begun.take(*found)
                progress()
            elif begun.failure is not None:
                raise begun.failure
            else:
                return
    finally:
        engine.withdraw(set(begun.running))


class _BegunSearches(Generic[T]):
    """Searches that are begun: with a row to go on with, or waiting for the trial that they asked for.

    Attributes:
        ready: Place and search, and the row that it is sent next.
        running: Trials by key, each with the searches that wait for it.
        failure: Error of the first trial that failed.
    """

    def __init__(self, engine: AnyEngine, keep: Callable[[dict[str, Any]], None], known: dict[str, Row] | None) -> None:
        self._engine, self._keep, self._known = engine, keep, known
        self.ready: deque[tuple[int, Search[T], Row | None]] = deque()
        self.running: dict[str, tuple[Trial, list[tuple[int, Search[T]]]]] = {}
        self.failure: EngineError | None = None

    def advance(self) -> tuple[int, T] | None:
        """Send the next search its row; return its place and result where it ends."""
        place, search, row = self.ready.popleft()
        try:
            trial: Trial = search.send(row)
        except StopIteration as end:
            return place, end.value
        key = trial.key
        if self._known and key in self._known:
            self.ready.append((place, search, self._known[key]))
            return None
        if key not in self.running:
            self.running[key] = trial, []
            self._engine.put(key, trial.argument)
        self.running[key][1].append((place, search))
        return None

    def take(self, key: str, answer: Answer) -> None:
        """Keep the row of an answer, with which the searches that wait for it go on; those of a failed trial end."""
        if key not in self.running:
            return
        trial, waiting = self.running.pop(key)
        try:
            row = trial.row(answer)
        except EngineError as error:
            if self.failure is None:
                *_, line = str(error).strip().split("\n")
                self._engine.note(f"a trial failed, the others go on: {line}")
            self.failure = self.failure or error
            return
        self._keep(row)
        self.ready += [(place, search, row) for place, search in waiting]
        if self._known is not None:
            self._known[key] = row


@dataclass(slots=True)
class InProcess:
    """Carries out calls in this process, one after the other, at once and without another one: for a single worker.

    Attributes:
        function: ``package.module:function`` of one argument.
    """

    function: str
    worker_count: int = 1
    dashboard: str = ""
    note: Callable[[str], None] = lambda line: None
    _queue: deque[tuple[str, Any]] = field(default_factory=deque)

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.clear()

    @property
    def wants_more(self) -> bool:
        """Whether there is no call."""
        return not self._queue

    def put(self, key: str, argument: Any) -> None:
        """Queue a call."""
        self._queue.append((key, argument))

    def withdraw(self, keys: set[str]) -> None:
        """Forget calls."""
        self._queue = deque(call for call in self._queue if call[0] not in keys)

    def next(self, timeout: float) -> tuple[str, Answer] | None:
        """Carry out the next call, however long it takes; return its key and answer."""
        if not self._queue:
            return None
        key, argument = self._queue.popleft()
        return key, Answer(**worker_process.answer(self.function, argument))
