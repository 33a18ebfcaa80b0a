"""Wrong gains, from which ``gradiva tune`` searches the way back to the shipped robot's score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import ConfigError
from gradiva.setup import Plant, load_setup
from gradiva_experiments.campaign.campaign import FALL, WALK, is_success, walk_cost
from gradiva_experiments.campaign.driver import AnyEngine
from gradiva_experiments.campaign.driver import Row as WalkRow
from gradiva_experiments.campaign.search import (
    Search,
    SearchSpace,
    read_space,
    run_search,
    walk_all,
)
from gradiva_experiments.campaign.trial_rows import TrialRows
from gradiva_experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row

_DURATION = 10.0  # [s] of the command of each walk
_SPEED = 0.8  # [-] of the robot's highest speed
_SEEDS, _FRESH = 10, 10  # of a candidate, and of the figures afterwards
_STARTS, _SEED_STEP = 3, 100  # of each robot, and between their first seeds
_WALKS = 300  # after which no candidate is begun
_WITHIN = 0.05  # [-] of the shipped score that it may cost more; lost walks, which cost a metre, give no room for it
_DRAWS = 100  # of gains, until some make a configuration
_PAPER = 200_000.0  # [s] simulated by 10 000 walks of 20 s (arXiv 2409.18649)
_FEW_KEYS = 4  # that are shown with their values
_EIGHTEEN = Path(__file__).with_name("eighteen_gains.toml")


Drawing = Callable[[SearchSpace, np.random.Generator], dict[str, float]]
"""Returns random gains from a search space."""


@dataclass(frozen=True, slots=True)
class Score:
    """Sums up walks of one configuration with several seeds.

    Attributes:
        walks: Number of walks.
        lost: Number of walks without success.
        cost: Mean of all, [m].
        scatter: Standard deviation of the cost of those that succeed from seed to seed, [m].
        tracking: Part of the mean that is of those that succeed, [m].
    """

    walks: int
    lost: int
    cost: float
    scatter: float
    tracking: float

    @classmethod
    def of(cls, rows: Collection[WalkRow]) -> Score:
        """Return the score of walks."""
        walked = [walk_cost(row) for row in rows if is_success(row)]
        scatter = float(np.std(walked, ddof=1)) if len(walked) > 1 else 0.0
        cost, tracking = float(np.mean([walk_cost(row) for row in rows])), float(np.sum(walked)) / len(rows)
        return cls(len(rows), len(rows) - len(walked), cost, scatter, tracking)


# -- wrong gains -----------------------------------------------------------------------------------------------------


def halved_or_doubled(space: SearchSpace, random: np.random.Generator) -> dict[str, float]:
    """Return the shipped gains halved or doubled at random; of the DCM gain the part above 1, by which errors decay."""
    factors = 2.0 ** random.choice([-1.0, 1.0], len(space.keys))
    found = {}
    for (name, value), factor in zip(space.before.items(), factors, strict=True):
        least = 1.0 if name.endswith("proportional_gain") else 0.0
        found[name] = float(f"{least + factor * (value - least):.6g}")
    return found


def anywhere(space: SearchSpace, random: np.random.Generator) -> dict[str, float]:
    """Return gains drawn from their ranges, as the first ones of the paper's evolution are."""
    seed = int(random.integers(2**31))
    return {name: draw.values(name, seed, 1)[0] for name, draw in space.keys.items()}


def wrong_start(walk: Mapping[str, Any], shipped: SearchSpace, draw: Drawing, seed: int) -> SearchSpace:
    """Return the space with wrong gains before: the first of the seed's draws in its ranges that make a configuration.

    Raises:
        ConfigError: None of them does.
    """
    for number in range(_DRAWS):
        gains = draw(shipped, np.random.default_rng((seed, number)))
        try:
            in_range = read_space({**walk, **gains}).before
        except ConfigError as error:
            refusal = str(error)
            continue
        outside = [name for name, value in gains.items() if in_range[name] != value]
        if not outside:
            return replace(shipped, before=gains)
        refusal = f"{', '.join(outside)} outside of what is searched"
    raise ConfigError(f"gains drawn at random are refused {_DRAWS} times, the last ones: {refusal}")


# -- questions -------------------------------------------------------------------------------------------------------


def as_good(shipped: Score) -> float:
    """Return the cost that is within five per cent of the shipped robot's, [m]: of its walks that succeed."""
    return shipped.cost + _WITHIN * shipped.tracking


def as_successful(shipped: Score) -> float:
    """Return a cost, [m], below which no more walks are lost than by the shipped robot."""
    return (shipped.lost + 1) * FALL / shipped.walks - 1e-9


@dataclass(frozen=True, slots=True)
class Question:
    """Describes from where and what is searched, and when it is found.

    Attributes:
        draw: Returns wrong gains.
        files: Files with the table ``tune``; none: the usual gains.
        enough: Returns the cost at which the search ends, [m], from the shipped robot's score.
        value: Returns what the search has cost.
        limit: Largest value.
        paper: Value of the paper.
    """

    draw: Drawing
    files: tuple[str, ...]
    enough: Callable[[Score], float]
    value: Callable[[Search], float]
    limit: float
    paper: float | None = None


USUAL = Question(halved_or_doubled, (), as_good, lambda search: search.given, _WALKS)
EIGHTEEN = Question(anywhere, (str(_EIGHTEEN),), as_successful, lambda search: search.simulated, _PAPER / 10.0, _PAPER)

# -- searches --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Searches:
    """Searches from wrong gains, with the walks by which they are judged.

    Attributes:
        run: Run of the experiment.
        question: Question that it asks.
        engine: Walks.
        rows: Rows of all walks.
    """

    run: ExperimentRun
    question: Question
    engine: AnyEngine
    rows: TrialRows

    def row(self, robot: str, start: int) -> Row:
        """Search from a start of a robot, whose seeds are its own; return the row."""
        search, shipped = self._begun(robot, start)
        title = f"{robot}, start {start + 1}"
        run_search(search, self.engine, self.rows, lambda done, text: self.run.report(start, None, f"{title}: {text}"))
        scores = self._scores(search, shipped)
        value = self.question.value(search)
        return {
            "robot": robot,
            "control": search.walk.get("control", "position"),
            "speed_mps": search.walk["speed"],
            "gains": len(search.space.keys),
            "start": start + 1,
            **{key: value for name, score in scores.items() for key, value in _columns(name, score).items()},
            "candidates": len(search.finished),
            "walks": search.given,
            "simulated_s": search.simulated,
            "paper": self.question.paper,
            "value": value,
            "outcome": "met" if self._is_found(scores) and value <= self.question.limit else "missed",
            "reason": _changes(search),
        }

    def _begun(self, robot: str, start: int) -> tuple[Search, dict[str, float]]:
        """Return the search, its end given by the shipped robot's score on its seeds, and the shipped gains."""
        options = self.run.options
        walk = walk_of(robot, self.question, options)
        first = options.seed_or(0) + _SEED_STEP * start
        seeds, space = range(first, first + options.either(_SEEDS, 2)), read_space(walk)
        search = Search(
            walk, wrong_start(walk, space, self.question.draw, first), seeds, options.either(_WALKS, 2), first
        )
        shipped = self._score(search, space.before, search.seeds)
        search.enough = self.question.enough(shipped)
        text = f"{shipped.lost} of {shipped.walks} lost, {1e3 * shipped.cost:.1f} mm"
        self.run.report(start, None, f"{robot}, start {start + 1}, shipped gains: {text}")
        return search, space.before

    def _scores(self, search: Search, shipped: Mapping[str, float]) -> dict[str, Score | None]:
        """Return the scores of gains before and found, and of the shipped ones, also on seeds that are new to all."""
        first = max(search.seeds) + 1
        fresh = range(first, first + self.run.options.either(_FRESH, 0))
        found = search.best.values if search.best else None
        return {
            "shipped": self._score(search, shipped, search.seeds),
            "before": Score.of(search.finished[0].rows.values()),
            "found": self._score(search, found, search.seeds) if found else None,
            "fresh_shipped": self._score(search, shipped, fresh) if fresh else None,
            "fresh_found": self._score(search, found, fresh) if found and fresh else None,
        }

    def _score(self, search: Search, values: Mapping[str, float], seeds: Sequence[int]) -> Score:
        trials = [search.trial(values, seed) for seed in seeds]
        found = walk_all(trials, self.engine, self.rows)
        return Score.of([found[trial.key] for trial in trials])

    def _is_found(self, scores: Mapping[str, Score | None]) -> bool:
        """Return whether the gains are good enough, on the seeds of the search and on fresh ones."""
        pairs = [(scores["shipped"], scores["found"]), (scores["fresh_shipped"], scores["fresh_found"])]
        known = [(shipped, found) for shipped, found in pairs if shipped is not None]
        return all(found is not None and found.cost <= self.question.enough(shipped) for shipped, found in known)


def _columns(name: str, score: Score | None) -> dict[str, Any]:
    """Return lost walks, mean cost and its scatter from seed to seed, [mm]."""
    lost, cost, scatter = (score.lost, 1e3 * score.cost, 1e3 * score.scatter) if score else (None, None, None)
    return {f"{name}_lost": lost, f"{name}_mm": cost, f"{name}_scatter_mm": scatter}


def _changes(search: Search) -> str:
    """Return values before and found, of few keys."""
    if search.best is None or len(search.space.keys) > _FEW_KEYS:
        return ""
    pairs = ((name.rpartition(".")[2], search.space.before[name], found) for name, found in search.best.values.items())
    return ", ".join(f"{name} {before:.4g} to {found:.4g}" for name, before, found in pairs)


def walk_of(robot: str, question: Question, options: ExperimentOptions) -> dict[str, Any]:
    """Return what all walks of a robot have in common, as in the file of a campaign."""
    (plant,) = options.plants
    speed = options.speeds[0] if options.speeds else round(_SPEED * load_setup(robot).robot.max_speed, 2)
    walk = {"robot": robot, "plant": str(plant), "speed": speed, "duration": options.either(_DURATION, 1.0)}
    walk |= {"control": str(options.controls[0])} if options.controls else {}
    return {**walk, **({"from": list(question.files)} if question.files else {}), **options.overrides}


def run_wrong_gains(run: ExperimentRun, question: Question = USUAL) -> None:
    """Search from each start of each robot; fill the rows.

    Raises:
        ConfigError: Several plants, speeds or control modes are chosen.
    """
    for name in ("plants", "speeds", "controls"):
        if len(getattr(run.options, name)) > 1:
            raise ConfigError(f"{run.name} takes one of --{name.removesuffix('s')}, got several")
    robots = run.options.robots or (run.options.robot,)
    with TrialRows(run.folder.path / "walks") as rows, run.pool.engine(WALK) as engine:
        searches = Searches(run, question, engine, rows)
        for robot in robots:
            for start in range(run.options.count(_STARTS, 1)):
                run.add_row(searches.row(robot, start))


def run_eighteen_gains(run: ExperimentRun) -> None:
    """Search eighteen gains from each start of each robot; fill the rows."""
    run_wrong_gains(run, EIGHTEEN)


_TAKES = ("robots", "controls", "speeds", "seeds", "seed", "settings")
EXPERIMENTS = (
    Experiment(
        "wrong_gains",
        "Gradiva's own experiment",
        "Gains halved and doubled at random, three starts unless --seeds: walks of 10 s until gradiva tune is within "
        "5 % of the shipped score.",
        run_wrong_gains,
        value_title="walks until found",
        plants=(Plant.ROBOT,),
        takes=_TAKES,
        quick="one start, two seeds, the walks before alone, of 1 s.",
    ),
    Experiment(
        "eighteen_gains",
        "Sartore, Rando, Romualdi et al., Humanoids 2024",
        "Eighteen gains drawn from their ranges, three starts unless --seeds: simulated time until gradiva tune loses "
        "no more walks than with the shipped ones.",
        run_eighteen_gains,
        value_title="simulated time until found [s]",
        plants=(Plant.ROBOT,),
        takes=_TAKES,
        quick="one start, two seeds, the walks before alone, of 1 s.",
    ),
)
