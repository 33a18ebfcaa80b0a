"""Cost of the campaigns' engine: walks on one worker and on two, beside the same walks in processes without it."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil

from gradiva.common import WalkingError
from gradiva_experiments.campaign.campaign import WALK
from gradiva_experiments.campaign.campaign_file import CampaignTrial, Options, trial_of
from gradiva_experiments.campaign.driver import Answer
from gradiva_experiments.campaign.engine import Engine, WalkProcess
from gradiva_experiments.campaign.trial_rows import TrialRows
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row

_DURATION = 5.0  # [s] of each walk
_WARM = 2  # [walks] of each worker before the measurement: imports, compiled functions
_OVERHEAD = 0.05  # [-] largest
_SPEEDUP = 1.8  # [-] least of two workers, as that of two processes on a machine that has two idle cores
_TIMEOUT = 600.0  # [s] of a walk


@dataclass(frozen=True, slots=True)
class Turn:
    """Walks after another on some workers.

    Attributes:
        workers: Number of walks at once.
        walks: Number of walks that ended.
        wall: Time of the clock from the first moment to the last one, [s].
        busy: Time in which the workers walked, of all workers together, [s].
        walking_cpu: Processor time of the processes that walk, [s].
        other_cpu: Processor time of driver, scheduler and workers, [s].
    """

    workers: int
    walks: int
    wall: float
    busy: float
    walking_cpu: float
    other_cpu: float


def on_engine(trials: Iterator[CampaignTrial], workers: int, walks: int) -> Turn:
    """Walk on an engine's cluster of this machine, as a campaign does, rows on the disk included.

    Raises:
        WalkingError: A walk failed.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        TrialRows(Path(folder)) as rows,
        Engine(WALK, workers=workers, timeout=_TIMEOUT) as engine,
    ):
        answers, ended = _answers(engine, trials, rows), Counter[str]()
        while len(ended) < workers or min(ended.values()) < _WARM:
            ended[next(answers).worker] += 1
        start, before = time.perf_counter(), _processor_times()
        busy = sum(next(answers).wall_s for _ in range(workers * walks))
        wall, after = time.perf_counter() - start, _processor_times()
    walking, other = (then - now for then, now in zip(after, before, strict=True))
    return Turn(workers, workers * walks, wall, busy, walking, other)


def _answers(engine: Engine, trials: Iterator[CampaignTrial], rows: TrialRows) -> Iterator[Answer]:
    """Yield answers without an end, each after its row is written."""
    given: dict[str, CampaignTrial] = {}
    while True:
        while engine.wants_more:
            trial = next(trials)
            given[trial.key] = trial
            engine.put(trial.key, trial.argument)
        found = engine.next(1.0)
        if found is None:
            continue
        key, answer = found
        if answer.error:
            raise WalkingError(answer.error)
        rows.add(given.pop(key).row(answer))
        yield answer


def _processor_times() -> tuple[float, float]:
    """Return the processor time of the processes that walk, children of workers, and that of all others, [s]."""
    driver = psutil.Process()
    walking = [child for worker in driver.children() for child in worker.children()]
    walking_cpu, all_cpu = (sum(map(_cpu, those)) for those in (walking, [driver, *driver.children(recursive=True)]))
    return walking_cpu, all_cpu - walking_cpu


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def without_engine(trials: Iterator[CampaignTrial], workers: int, walks: int) -> Turn:
    """Walk in processes that a thread each gives one walk after the other: what the machine itself can do."""
    given = [[next(trials).argument for _ in range(_WARM + walks)] for _ in range(workers)]
    processes = [WalkProcess() for _ in range(workers)]
    try:
        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(_walk_all, processes, [each[:_WARM] for each in given]))
            start = time.perf_counter()
            busy = sum(threads.map(_walk_all, processes, [each[_WARM:] for each in given]))
            return Turn(workers, workers * walks, time.perf_counter() - start, busy, 0.0, 0.0)
    finally:
        for process in processes:
            process.end()


def _walk_all(process: WalkProcess, trials: Sequence[Options]) -> float:
    return float(sum(process.call(WALK, each, _TIMEOUT)["wall_s"] for each in trials))


# -- figures -----------------------------------------------------------------------------------------------------------


def rows_of(engine: Sequence[Turn], machine: Sequence[Turn]) -> list[Row]:
    """Return a row of each figure, from turns on one and two workers, with the engine and without."""
    one = [turn for turn in engine if turn.workers == 1]
    walking, other = (sum(getattr(turn, name) for turn in engine) for name in ("walking_cpu", "other_cpu"))
    waiting = sum(turn.wall for turn in one) / sum(turn.busy for turn in one) - 1.0
    return [
        _row("processor time of the engine beside that of the walks", engine, other / walking, _OVERHEAD, is_most=True),
        _row("time between walks of one worker beside that of the walks", one, waiting, _OVERHEAD, is_most=True),
        _row("throughput of two workers beside one", engine, _speedup(engine), _SPEEDUP),
        _row("the same without the engine: of this machine", machine, _speedup(machine), None),
        _row("two workers beside two processes without it", engine, _rate(engine) / _rate(machine), 1.0 - _OVERHEAD),
    ]


def _speedup(turns: Sequence[Turn]) -> float:
    return _rate(turns) / _rate(turns, 1)


def _rate(turns: Sequence[Turn], workers: int = 2) -> float:
    """Return walks per second."""
    chosen = [turn for turn in turns if turn.workers == workers]
    return sum(turn.walks for turn in chosen) / sum(turn.wall for turn in chosen)


def _row(what: str, turns: Sequence[Turn], value: float, limit: float | None, is_most: bool = False) -> Row:
    is_met = limit is None or (value <= limit if is_most else value >= limit)
    return {
        "what": what,
        "walks": sum(turn.walks for turn in turns),
        "limit": limit,
        "paper": None,
        "value": value,
        "asked": Asked.AS_FOUND if limit is None else None,
        "outcome": "measured" if limit is None else "met" if is_met else "failed",
        "reason": "" if is_met else f"{value:.3f}, {'at most' if is_most else 'at least'} {limit:g} is asked",
    }


def run_campaign_cost(run: ExperimentRun) -> None:
    """Walk in turns, on one worker and on two, with the engine and without; fill the rows."""
    options, seeds = run.options, count(run.options.seed_or(0))
    walk = {"robot": options.robot, "duration": options.either(_DURATION, 1.0), **options.overrides}
    trials = (trial_of(walk, {}, seed) for seed in seeds)
    walks, rounds = options.count(25, 3), options.either(2, 1)
    turns: dict[Callable[..., Turn], list[Turn]] = {on_engine: [], without_engine: []}
    order = [
        (kind, workers) for number in range(rounds) for workers in (1, 2)[:: 1 - 2 * (number % 2)] for kind in turns
    ]
    for done, (kind, workers) in enumerate(order, 1):
        turns[kind].append(turn := kind(trials, workers, walks))
        text = f"{turn.walks} walks, {turn.workers} at once, {kind.__name__.replace('_', ' ')}: {turn.wall:.1f} s"
        run.report(done, len(order), text)
    for row in rows_of(*turns.values()):
        run.add_row(row)


EXPERIMENTS = (
    Experiment(
        "campaign_cost",
        "Gradiva's own experiment",
        "Walks of 5 s on one worker and on two, beside the same in processes without the engine; on an idle machine.",
        run_campaign_cost,
        value_title="ratio",
        takes=("settings", "seeds", "seed"),
        quick="three walks of 1 s a worker, once.",
    ),
)
