"""Searches of ``gradiva tune``: gains by Optuna, asked and answered in the driver, the walks on the campaigns' engine.

The first stage looks for the least cost by CMA-ES, the second for the front of several objectives by NSGA-II. All
candidates walk the same seeds, in one shuffled order (common random numbers); each is the seed's draw of the plant. In
the first stage a candidate walks no more that is worse than the best one on the seeds that both have walked, by
Wilcoxon's test, or that has cost more so far than the best one on all seeds: a fall where that loses no walk.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.pruners import WilcoxonPruner
from optuna.samplers import CmaEsSampler, NSGAIISampler

from gradiva.common import ConfigError, ControlMode, from_table
from gradiva.setup import overlay_file, read_toml
from gradiva_experiments.campaign import driver
from gradiva_experiments.campaign.campaign import REFUSED, is_success, walk_cost
from gradiva_experiments.campaign.campaign_file import CampaignTrial, Draw, flat, trial_of, walk_options
from gradiva_experiments.campaign.driver import AnyEngine, Row, carry_out
from gradiva_experiments.campaign.statistics import explained_variance
from gradiva_experiments.campaign.trial_rows import KEY, TrialRows, read_rows, when_writable

_P_VALUE = 0.1  # below which a candidate is worse than the best one
_FIRST = 3  # [walks] of a candidate before it may be given up
_FRONT_GENERATION = 12  # candidates of NSGA-II


# -- what is searched ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The keys that are searched.

    Attributes:
        keys: Range of each, by dotted name.
        before: Value of each before the search.
    """

    keys: dict[str, Draw]
    before: dict[str, float]

    def ask(self, trial: optuna.Trial) -> dict[str, float]:
        """Return a candidate, with as many digits as one would type."""
        return {
            name: float(f"{trial.suggest_float(name, *draw.between, log=draw.scale == 'log'):.5g}")
            for name, draw in self.keys.items()
        }

    def unit(self, values: Mapping[str, float]) -> list[float]:
        """Return values on the scale of their ranges, 0 to 1."""
        scaled = []
        for name, draw in self.keys.items():
            given = (*draw.between, values[name])
            low, high, value = np.log(given) if draw.scale == "log" else given
            scaled.append(float((value - low) / (high - low)))
        return scaled


def read_space(walk: Mapping[str, Any]) -> SearchSpace:
    """Return the search space of the tables ``[tune]`` among the files of ``from``, or of the usual gains.

    Raises:
        ConfigError: A range is wrong, or a key has no value.
    """
    files = [Path(str(file)) for file in walk.get("from", [])]
    tables = [flat(read_toml(overlay_file(file)).get("tune", {})) for file in files]
    asked = {name: value for table in tables for name, value in table.items()}
    setup = walk_options(trial_of(walk, {}, 0).options).request().setup
    usual = "tune_by_torque" if setup.walking.walking.control is ControlMode.TORQUE else "tune"
    asked = asked or flat(read_toml(Path(__file__).with_name("gains.toml"))[usual])
    keys = {name: from_table(Draw, value, f"tune, {name}") for name, value in asked.items()}
    values = flat(setup.tables)
    for name, draw in keys.items():
        if not draw.between:
            raise ConfigError(f"tune, {name}: expected between = [least, largest]")
        if not isinstance(values.get(name), int | float):
            raise ConfigError(f"tune, {name}: the configuration of {setup.robot.name} has no such number")
    before = {name: min(max(float(values[name]), draw.between[0]), draw.between[1]) for name, draw in keys.items()}
    return SearchSpace(keys, before)


# -- searches --------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Candidate:
    """Values that are tried, and their rows by seed."""

    trial: optuna.Trial
    values: dict[str, float]
    rows: dict[int, Row] = field(default_factory=dict)
    is_given_up: bool = False

    @property
    def costs(self) -> dict[int, float]:
        """Cost of each walk, by seed."""
        return {seed: walk_cost(row) for seed, row in self.rows.items()}

    @property
    def cost(self) -> float:
        """Mean cost of its walks."""
        return float(np.mean(list(self.costs.values())))

    @property
    def is_refused(self) -> bool:
        """Whether its values make no configuration: no seed changes that."""
        return any(row["outcome"] == REFUSED for row in self.rows.values())


@dataclass(slots=True, eq=False)
class Search:
    """The first stage: hands out walks, and looks for the least cost.

    Attributes:
        walk: Common to all walks, as in the file of a campaign.
        space: Keys that are searched, with their ranges.
        seeds: Seeds that a candidate walks, in the order of the search.
        walks: Number of walks after which no further candidate is begun.
        seed: Seed of the sampler, and of the order of the seeds.
        enough: Cost of the best candidate at which the search ends, [m].
        given: Walks so far; those of candidates that are refused are none.
        best: Candidate with the least cost.
        finished: All candidates so far.
    """

    walk: Mapping[str, Any]
    space: SearchSpace
    seeds: Sequence[int]
    walks: int
    seed: int = 0
    enough: float = 0.0
    given: int = 0
    best: Candidate | None = None
    finished: list[Candidate] = field(default_factory=list)
    _study: optuna.Study = field(init=False)

    def __post_init__(self) -> None:
        optuna.logging.set_verbosity(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Optuna may change in a version that we do not allow
            self._study = self._new_study()
        self._study.enqueue_trial(self.space.before)
        self.seeds = [int(seed) for seed in np.random.default_rng(self.seed).permutation(self.seeds)]

    def _new_study(self) -> optuna.Study:
        sampler = CmaEsSampler(x0=dict(self.space.before), seed=self.seed, popsize=self.generation)
        return optuna.create_study(sampler=sampler, pruner=WilcoxonPruner(p_threshold=_P_VALUE, n_startup_steps=_FIRST))

    @property
    def generation(self) -> int:
        """Number of candidates that walk side by side: 4 + 3 ln n of n keys (Hansen, arXiv 1604.00772, eq. 48)."""
        return 4 + int(3.0 * math.log(len(self.space.keys)))

    @property
    def simulated(self) -> float:
        """Simulated time of all walks so far, [s]."""
        return self._sum_of("duration_s")

    @property
    def walked(self) -> float:
        """Time of one core that all walks so far have taken, [s]."""
        return self._sum_of("wall_s")

    def _sum_of(self, name: str) -> float:
        return sum(row.get(name) or 0.0 for each in self.finished for row in each.rows.values())

    def begin(self) -> list[Candidate]:
        """Return the candidates of the next generation; none when there is to be no further one.

        The values before are one of their own: what is worse than they are is given up.
        """
        if self.given >= self.walks or (self.best is not None and self.best.cost <= self.enough):
            return []
        trials = [self._study.ask() for _ in range(self.generation if self.finished else 1)]
        return [Candidate(trial, self.space.ask(trial)) for trial in trials]

    def walks_of(self, candidate: Candidate) -> driver.Search[None]:
        """Walk seed after seed, until the candidate is given up."""
        for place, seed in enumerate(self.seeds):
            candidate.rows[seed] = row = yield self.trial(candidate.values, seed)
            if candidate.is_refused:
                return
            self.given += 1
            if self._gives_up(candidate, walk_cost(row), place):
                candidate.is_given_up = True
                return

    def trial(self, values: Mapping[str, float], seed: int) -> CampaignTrial:
        """Return the walk of values with a seed."""
        return trial_of(self.walk, values, seed)

    def _gives_up(self, candidate: Candidate, cost: float, place: int) -> bool:
        """Return whether a candidate is worse than the best one."""
        candidate.trial.report(cost, place)
        is_too_costly = self.best is not None and sum(candidate.costs.values()) > self.best.cost * len(self.seeds)
        return is_too_costly or bool(candidate.trial.should_prune())

    def end(self, generation: Sequence[Candidate]) -> None:
        """Answer a generation, in its order: the search is the same on any number of workers."""
        for candidate in generation:
            self._tell(candidate)
            self.finished.append(candidate)
        for candidate in generation:
            if self.is_whole(candidate) and (self.best is None or candidate.cost < self.best.cost):
                self.best = candidate

    def is_whole(self, candidate: Candidate) -> bool:
        """Return whether a candidate has walked all seeds."""
        return len(candidate.rows) == len(self.seeds)

    def _tell(self, candidate: Candidate) -> None:
        self._study.tell(candidate.trial, self.estimate(candidate))

    def estimate(self, candidate: Candidate) -> float:
        """Return the mean cost over all seeds; of one that was given up that of the best plus the mean difference."""
        if self.best is None or self.is_whole(candidate) or candidate.is_refused:
            return candidate.cost
        differences = [cost - self.best.costs[seed] for seed, cost in candidate.costs.items()]
        return self.best.cost + float(np.mean(differences))


# -- several objectives ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Objective:
    """One of the figures between which the second stage finds compromises; less is better.

    Attributes:
        title: Title with the unit in which it is shown.
        factor: Factor from the SI unit to that one; negative where more is better.
        of: Returns it of the rows of a candidate that succeeded.
    """

    title: str
    factor: float
    of: Callable[[Sequence[Row]], float]


def _mean_of(name: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: float(np.mean([row.get(name) or 0.0 for row in rows]))


OBJECTIVES = {
    "error": Objective("rms DCM + ZMP error [mm]", 1e3, lambda rows: float(np.mean([walk_cost(row) for row in rows]))),
    "energy": Objective("work [J/kg/m]", 1.0, _mean_of("specific_energetic_cost")),
    "margin": Objective(
        "largest DCM error [mm]", 1e3, lambda rows: max(float(row.get("dcm_error_m.max") or 0.0) for row in rows)
    ),
    "speed": Objective("speed [m/s]", -1.0, lambda rows: -_mean_of("walking_speed_mps")(rows)),
}
"""By name; the margin to a fall is how far the DCM comes from its reference, in the worst of the walks."""
_LOST = 1e3  # value of each objective of a candidate without a walk that succeeded


@dataclass(slots=True, eq=False)
class FrontSearch(Search):
    """The second stage: the front of several objectives by NSGA-II; each candidate walks all seeds.

    Attributes:
        objectives: Names.
        seeded: Values that are tried first, beside those before.
    """

    objectives: Sequence[str] = tuple(OBJECTIVES)
    seeded: Sequence[Mapping[str, float]] = ()

    def __post_init__(self) -> None:
        Search.__post_init__(self)
        for values in self.seeded:
            self._study.enqueue_trial(dict(values))

    def _new_study(self) -> optuna.Study:
        sampler = NSGAIISampler(seed=self.seed, population_size=self.generation)
        return optuna.create_study(sampler=sampler, directions=["minimize"] * len(self.objectives))

    @property
    def generation(self) -> int:
        """Number of candidates that walk side by side."""
        return _FRONT_GENERATION

    def _gives_up(self, candidate: Candidate, cost: float, place: int) -> bool:
        return False

    def values_of(self, candidate: Candidate) -> list[float]:
        """Return the objectives of the walks that succeeded."""
        walked = [row for row in candidate.rows.values() if is_success(row)]
        return [OBJECTIVES[name].of(walked) if walked else _LOST for name in self.objectives]

    def _tell(self, candidate: Candidate) -> None:
        """Answer; a candidate that loses fewer walks is better, whatever its objectives."""
        lost = sum(not is_success(row) for row in candidate.rows.values())
        candidate.trial.set_constraint("lost", float(len(self.seeds) if candidate.is_refused else lost))
        self._study.tell(candidate.trial, self.values_of(candidate))

    @property
    def front(self) -> list[Candidate]:
        """Candidates that lost no walk and that no other one beats in all objectives, the least error first."""
        whole = [each for each in self.finished if all(map(is_success, each.rows.values()))]
        found = [(self.values_of(each), each) for each in whole]
        return [
            each
            for values, each in sorted(found, key=lambda pair: pair[0])
            if not any(_dominates(others, values) for others, _ in found)
        ]


def _dominates(first: Sequence[float], second: Sequence[float]) -> bool:
    return first != second and all(a <= b for a, b in zip(first, second, strict=True))


# -- on an engine ----------------------------------------------------------------------------------------------------


def run_search(search: Search, engine: AnyEngine, rows: TrialRows, progress: Callable[[int, str], None]) -> None:
    """Carry out a search; what has a row from an earlier run of the same command is not walked again."""
    known: dict[str, Row] = {row[KEY]: row for row in read_rows(rows.folder)}

    def show() -> None:
        best = f", best {1e3 * search.best.cost:.2f} mm" if search.best else ""
        progress(search.given, f"{search.given} walks, {len(search.finished)} candidates{best}")

    while generation := search.begin():
        for _ in carry_out(map(search.walks_of, generation), engine, _keeper(rows, engine), known, show):
            pass
        search.end(generation)
        show()


def walk_all(trials: Sequence[CampaignTrial], engine: AnyEngine, rows: TrialRows) -> dict[str, Row]:
    """Walk trials that have no row; return the rows of all by key."""
    known: dict[str, Row] = {row[KEY]: row for row in read_rows(rows.folder)}
    walks = (trial.walked() for trial in trials)
    return {row[KEY]: row for _, row in carry_out(walks, engine, _keeper(rows, engine), known)}


def _keeper(rows: TrialRows, engine: AnyEngine) -> Callable[[dict[str, Any]], None]:
    return lambda row: when_writable(lambda: rows.add(row), rows.folder, engine.note)


# -- which gains matter ------------------------------------------------------------------------------------------------


def sensitivities(search: Search) -> dict[str, float]:
    """Return the fraction of the variance of the cost's rank that each key explains alone, [-].

    Of too few candidates there is none.
    """
    tried = [candidate for candidate in search.finished if not candidate.is_refused]
    values = np.array([search.space.unit(candidate.values) for candidate in tried])
    costs = np.array([search.estimate(candidate) for candidate in tried])
    return dict(zip(search.space.keys, explained_variance(values, costs), strict=False))
