"""``gradiva tune``: gains by Optuna's CMA-ES, asked and answered in the driver, the walks on the campaigns' engine.

All candidates walk the same seeds, in one shuffled order (common random numbers); each is the seed's draw of the plant.
A candidate that is worse than the best one on the seeds that both have walked, by Wilcoxon's test, walks no more. The
figures before and after are of seeds that the search has never seen.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import optuna
import tomli_w
import typer
from optuna.pruners import WilcoxonPruner
from optuna.samplers import CmaEsSampler

from gradiva.cli import JsonTarget, console_beside, progress_bar
from gradiva.common import ConfigError, from_table
from gradiva.setup import parse_setting, read_toml
from gradiva.telemetry import page
from gradiva_experiments.campaign import driver
from gradiva_experiments.campaign.campaign import WALK, is_success
from gradiva_experiments.campaign.campaign_file import CampaignTrial, Draw, flat, trial_of, walk_options
from gradiva_experiments.campaign.driver import AnyEngine, carry_out
from gradiva_experiments.campaign.engine import Engine
from gradiva_experiments.campaign.report import rate_text, table_card
from gradiva_experiments.campaign.statistics import compare_rates, compare_scores
from gradiva_experiments.campaign.trial_rows import KEY, TrialRows, read_rows, when_writable

FALL = 1.0
"""Cost of a walk that is lost at its end, [m]; at its start twice as much. Walks that succeed cost millimetres."""
_P_VALUE = 0.1  # below which a candidate is worse than the best one
_FIRST = 3  # [walks] of a candidate before it may be given up
_GENERATION = 12  # [candidates] of CMA-ES, which walk side by side


def walk_cost(row: Mapping[str, Any]) -> float:
    """Return rms DCM error plus rms ZMP error, [m]; of a walk that is lost `FALL` and more, the earlier the more."""
    dcm, zmp = (row.get(f"{name}_error_m.rms") for name in ("dcm", "zmp"))
    if is_success(row) and dcm is not None and zmp is not None:
        return float(dcm + zmp)
    asked = json.loads(row["options"]).get("duration", 10.0)
    return FALL * (2.0 - min(1.0, (row.get("duration_s") or 0.0) / asked))


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


def read_space(walk: Mapping[str, Any]) -> SearchSpace:
    """Return the search space of the tables ``[tune]`` among the files of ``from``, or of the usual gains.

    Raises:
        ConfigError: A range is wrong, or a key has no value.
    """
    files = [Path(str(file)) for file in walk.get("from", [])]
    tables = [flat(read_toml(file).get("tune", {})) for file in files]
    asked = {name: value for table in tables for name, value in table.items()}
    asked = asked or flat(read_toml(Path(__file__).with_name("gains.toml"))["tune"])
    keys = {name: from_table(Draw, value, f"tune, {name}") for name, value in asked.items()}
    setup = walk_options(trial_of(walk, {}, 0).options).request().setup
    values = flat(setup.tables)
    for name, draw in keys.items():
        if not draw.between:
            raise ConfigError(f"tune, {name}: expected between = [least, largest]")
        if not isinstance(values.get(name), int | float):
            raise ConfigError(f"tune, {name}: the configuration of {setup.robot.name} has no such number")
    before = {name: min(max(float(values[name]), draw.between[0]), draw.between[1]) for name, draw in keys.items()}
    return SearchSpace(keys, before)


@dataclass(slots=True, eq=False)
class _Candidate:
    """Values that are tried, and their costs by seed."""

    trial: optuna.Trial
    values: dict[str, float]
    costs: dict[int, float] = field(default_factory=dict)
    is_given_up: bool = False


@dataclass(slots=True, eq=False)
class Search:
    """A search that hands out walks and takes their costs.

    Attributes:
        walk: Common to all walks, as in the file of a campaign.
        space: Of the keys.
        seeds: Of the search.
        walks: After so many no further candidate is begun.
        seed: Of CMA-ES, and of the order of the seeds.
    """

    walk: Mapping[str, Any]
    space: SearchSpace
    seeds: Sequence[int]
    walks: int
    seed: int = 0
    given: int = 0
    best: _Candidate | None = None
    finished: list[_Candidate] = field(default_factory=list)
    _study: optuna.Study = field(init=False)

    def __post_init__(self) -> None:
        optuna.logging.set_verbosity(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Optuna may change in a version that we do not allow
            sampler = CmaEsSampler(x0=dict(self.space.before), seed=self.seed, popsize=_GENERATION)
            pruner = WilcoxonPruner(p_threshold=_P_VALUE, n_startup_steps=_FIRST)
        self._study = optuna.create_study(sampler=sampler, pruner=pruner)
        self._study.enqueue_trial(self.space.before)
        self.seeds = [int(seed) for seed in np.random.default_rng(self.seed).permutation(self.seeds)]

    def begin(self) -> list[_Candidate]:
        """Return the candidates of the next generation; none when there is to be no further one."""
        if self.given >= self.walks:
            return []
        trials = [self._study.ask() for _ in range(_GENERATION)]
        return [_Candidate(trial, self.space.ask(trial)) for trial in trials]

    def walks_of(self, candidate: _Candidate) -> driver.Search[None]:
        """Walk seed after seed, until the candidate is given up."""
        while len(candidate.costs) < len(self.seeds) and not candidate.is_given_up:
            self.given += 1
            row = yield self.trial(candidate.values, self.seeds[len(candidate.costs)])
            self.take(candidate, walk_cost(row))

    def trial(self, values: Mapping[str, float], seed: int) -> CampaignTrial:
        """Return the walk of values with a seed."""
        return trial_of(self.walk, values, seed)

    def take(self, candidate: _Candidate, cost: float) -> None:
        """Take the cost of a candidate's last walk, and give the candidate up if it is worse than the best one."""
        place = len(candidate.costs)
        candidate.costs[self.seeds[place]] = cost
        candidate.trial.report(cost, place)
        candidate.is_given_up = candidate.trial.should_prune()

    def end(self, generation: Sequence[_Candidate]) -> None:
        """Answer a generation, in its order: the search is the same on any number of workers."""
        for candidate in generation:
            self._study.tell(candidate.trial, self._estimate(candidate))
            self.finished.append(candidate)
        for candidate in generation:
            is_whole = len(candidate.costs) == len(self.seeds)
            if is_whole and (self.best is None or _mean(candidate) < _mean(self.best)):
                self.best = candidate

    def _estimate(self, candidate: _Candidate) -> float:
        """Return the mean cost over all seeds; of one that was given up that of the best plus the mean difference."""
        if self.best is None or len(candidate.costs) == len(self.seeds):
            return _mean(candidate)
        differences = [cost - self.best.costs[seed] for seed, cost in candidate.costs.items()]
        return _mean(self.best) + float(np.mean(differences))


def _mean(candidate: _Candidate) -> float:
    return float(np.mean(list(candidate.costs.values())))


def run_search(search: Search, engine: AnyEngine, rows: TrialRows, progress: Callable[[int, str], None]) -> None:
    """Carry out a search; what has a row from an earlier run of the same command is not walked again."""
    known: dict[str, Mapping[str, Any]] = {row[KEY]: row for row in read_rows(rows.folder)}

    def show() -> None:
        best = f", best {1e3 * _mean(search.best):.2f} mm" if search.best else ""
        progress(search.given, f"{search.given} walks, {len(search.finished)} candidates{best}")

    while generation := search.begin():
        for _ in carry_out(map(search.walks_of, generation), engine, _keeper(rows, engine), known, show):
            pass
        search.end(generation)


def walk_all(trials: Sequence[CampaignTrial], engine: AnyEngine, rows: TrialRows) -> dict[str, Mapping[str, Any]]:
    """Walk trials that have no row; return the rows of all by key."""
    known: dict[str, Mapping[str, Any]] = {row[KEY]: row for row in read_rows(rows.folder)}
    walks = (trial.walked() for trial in trials)
    return {row[KEY]: row for _, row in carry_out(walks, engine, _keeper(rows, engine), known)}


def _keeper(rows: TrialRows, engine: AnyEngine) -> Callable[[dict[str, Any]], None]:
    return lambda row: when_writable(lambda: rows.add(row), rows.folder, engine.note)


# -- result ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tuned:
    """Result of a search.

    Attributes:
        values: Found, by key.
        before: Values before.
        walks: Number of walks of the search.
        candidates: That were tried, and how many of them to the end.
        lines: Figures before and after, on seeds that the search has not seen.
    """

    values: dict[str, float]
    before: dict[str, float]
    walks: int
    candidates: tuple[int, int]
    lines: list[str]


def judge(search: Search, fresh: Sequence[int], engine: Engine, rows: TrialRows) -> Tuned:
    """Walk fresh seeds with the values before and after, and compare.

    Raises:
        ConfigError: No candidate was walked to the end.
    """
    if search.best is None:
        raise ConfigError(f"{search.walks} walks end no candidate of {len(search.seeds)} seeds: allow more --walks")
    trials = [[search.trial(values, seed) for seed in fresh] for values in (search.space.before, search.best.values)]
    found = walk_all([trial for each in trials for trial in each], engine, rows)
    before, after = ([found[trial.key] for trial in each] for each in trials)
    pairs = list(zip(before, after, strict=True))
    rates = compare_rates([(is_success(a), is_success(b)) for a, b in pairs])
    costs = compare_scores([(1e3 * walk_cost(a), 1e3 * walk_cost(b)) for a, b in pairs])
    p_cost = "too few pairs" if math.isnan(costs.p_value) else f"p = {costs.p_value:.2g} (Wilcoxon)"
    lines = [
        f"before: {rate_text(rates.first, rates.pairs)} walked, median cost {costs.first:.2f} mm",
        f"after: {rate_text(rates.second, rates.pairs)} walked, median cost {costs.second:.2f} mm",
        f"p = {rates.p_value:.2g} (McNemar) for the walks that succeed, {p_cost} for the cost",
    ]
    whole = sum(len(candidate.costs) == len(search.seeds) for candidate in search.finished)
    return Tuned(search.best.values, search.space.before, search.given, (len(search.finished), whole), lines)


def write_tuned(tuned: Tuned, folder: Path) -> tuple[Path, Path]:
    """Write the overlay for ``--from``, and the page; return their paths."""
    tables: dict[str, Any] = {}
    for name, value in tuned.values.items():
        *path, key = name.split(".")
        table = tables
        for part in path:
            table = table.setdefault(part, {})
        table[key] = value
    overlay, report = folder / "tuned.toml", folder / "report.html"
    comments = "".join(f"# {line}\n" for line in tuned.lines)
    overlay.write_text(
        f"# By gradiva tune, on seeds that the search has not seen:\n{comments}\n{tomli_w.dumps(tables)}"
    )
    rows = [[name, f"{tuned.before[name]:.5g}", f"{value:.5g}"] for name, value in tuned.values.items()]
    texts = "".join(f'<p class="reason">{line}</p>' for line in tuned.lines)
    tried, whole = tuned.candidates
    cost = f'<p class="run">{tuned.walks} walks, {tried} candidates, {whole} of them with all seeds</p>'
    body = f"<header><h1>Tuned</h1>{texts}{cost}</header><h2>Values</h2>{table_card(['key', 'before', 'after'], rows)}"
    report.write_text(page("Tuned", body, None), encoding="utf-8")
    return overlay, report


# -- command ---------------------------------------------------------------------------------------------------------

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def tune(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A name, as in: gradiva robots, or a folder.")],
    files: Annotated[
        list[str] | None, typer.Option("--from", metavar="FILE", help="As in gradiva walk; its table tune is searched.")
    ] = None,
    plant: Annotated[str, typer.Option(metavar="PLANT", help="ideal, noisy or robot.")] = "robot",
    control: Annotated[str | None, typer.Option(metavar="MODE", help="position, velocity or torque.")] = None,
    speed: Annotated[float | None, typer.Option(metavar="M/S", help="Forward.")] = None,
    duration: Annotated[float, typer.Option(metavar="S", help="Of each walk.")] = 10.0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Of all walks.")
    ] = None,
    walks: Annotated[int, typer.Option(metavar="N", min=1, help="After which no candidate is begun.")] = 300,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Seeds of a candidate.")] = 10,
    fresh: Annotated[int, typer.Option(metavar="N", min=1, help="Seeds of the figures before and after.")] = 20,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="First seed of the search, and of CMA-ES.")] = 0,
    scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help="As in gradiva campaign.")] = "",
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="As in gradiva campaign.")] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Below it lies the folder tune-ROBOT.")] = "runs",
) -> int:
    """Search the keys of a table ``tune``, or the usual gains, and write what is found as a file for --from.

    No shipped file is touched. The same command goes on with the walks that it has done.
    """
    walk: dict[str, Any] = {"robot": robot, "plant": plant, "duration": duration, "from": list(files or ())}
    walk |= {name: value for name, value in (("control", control), ("speed", speed)) if value is not None}
    walk |= dict(map(parse_setting, settings or ()))
    search = Search(walk, read_space(walk), range(seed, seed + seeds), walks, seed)
    folder = Path(out) / f"tune-{Path(robot).name}"
    console = console_beside(JsonTarget(None))
    with TrialRows(folder / "rows") as rows, Engine(WALK, scheduler, workers) as engine:
        engine.note = lambda line: console.print(line, markup=False)
        with progress_bar(console, robot, walks) as update:
            run_search(search, engine, rows, update)
            tuned = judge(search, range(seed + seeds, seed + seeds + fresh), engine, rows)
    for name, value in tuned.values.items():
        console.print(f"{name}: {tuned.before[name]:.5g} -> {value:.5g}", markup=False)
    for line in (*tuned.lines, *map(str, write_tuned(tuned, folder))):
        console.print(line, markup=False, soft_wrap=True)
    return 0


def run_command(arguments: Sequence[str]) -> int:
    """Carry out ``gradiva tune`` with its arguments; return the exit status.

    Raises:
        WalkingError: Wrong input.
    """
    status = app(list(arguments), prog_name="gradiva tune", standalone_mode=False)
    return status if isinstance(status, int) else 0
