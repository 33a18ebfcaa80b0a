"""``gradiva tune``: searches gains, judges them on seeds that the search has not seen, writes overlay and page."""

from __future__ import annotations

import math
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Annotated, Any

import tomli_w
import typer

from gradiva.cli import JsonTarget, console_beside, progress_bar
from gradiva.common import ConfigError, merge, nearest_name
from gradiva.setup import nested, parse_setting
from gradiva.telemetry import page
from gradiva_experiments.campaign.campaign import WALK, is_success, shown, walk_cost
from gradiva_experiments.campaign.driver import AnyEngine
from gradiva_experiments.campaign.engine import Engine
from gradiva_experiments.campaign.report import table_card
from gradiva_experiments.campaign.search import (
    OBJECTIVES,
    Candidate,
    FrontSearch,
    Search,
    read_space,
    run_search,
    sensitivities,
    walk_all,
)
from gradiva_experiments.campaign.statistics import PairedRates, PairedScores, compare_rates, compare_scores
from gradiva_experiments.campaign.tables import rate_text
from gradiva_experiments.campaign.trial_rows import TrialRows
from gradiva_experiments.experiment import RESULTS_FOLDER, Asked, check_publishable, current_commit, write_published
from gradiva_experiments.typed_options import with_options

# -- result ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tuned:
    """Result of a search.

    Attributes:
        values: Found, by key.
        before: Values before.
        walks: Number of walks of the search.
        simulated: Their time, [s].
        walked: Time of one core that they have taken, [s].
        candidates: Number of candidates that were tried, and of those that walked all seeds.
        rates: Walks that succeed before and after, on seeds that the search has not seen.
        costs: Cost on these seeds, [mm].
        matters: Fraction of the cost's variance that each key explains, see `sensitivities`.
    """

    values: dict[str, float]
    before: dict[str, float]
    walks: int
    simulated: float
    walked: float
    candidates: tuple[int, int]
    rates: PairedRates
    costs: PairedScores
    matters: dict[str, float]

    @property
    def lines(self) -> list[str]:
        """Figures before and after, on seeds that the search has not seen."""
        rates, costs = self.rates, self.costs
        p_cost = "too few pairs" if math.isnan(costs.p_value) else f"p = {costs.p_value:.2g} (Wilcoxon)"
        return [
            f"before: {rate_text(rates.first, rates.pairs)} walked, median cost {costs.first:.2f} mm",
            f"after: {rate_text(rates.second, rates.pairs)} walked, median cost {costs.second:.2f} mm",
            f"p = {rates.p_value:.2g} (McNemar) for the walks that succeed, {p_cost} for the cost",
        ]


def judge(search: Search, fresh: Sequence[int], engine: AnyEngine, rows: TrialRows) -> Tuned:
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
    tried = len(search.finished), sum(map(search.is_whole, search.finished))
    taken = search.given, search.simulated, search.walked
    return Tuned(search.best.values, search.space.before, *taken, tried, rates, costs, sensitivities(search))


def write_tuned(tuned: Tuned, folder: Path, front: FrontSearch | None = None) -> list[Path]:
    """Write the overlay for ``--from``, one for each point of a front, and the page; return their paths.

    The overlays of an earlier front are removed.
    """
    for old in folder.glob("front_*.toml"):
        old.unlink()
    overlays = [_overlay(folder / "tuned.toml", tuned.values, ["By gradiva tune, on fresh seeds:", *tuned.lines])]
    points = front.front if front is not None else []
    for number, point in enumerate(points, 1):
        assert front is not None, "it has points"
        texts = [f"Point {number} of the front of gradiva tune, on the seeds of the search:", *_figures(front, point)]
        overlays.append(_overlay(folder / f"front_{number}.toml", point.values, texts))
    rows = [
        [name, f"{tuned.before[name]:.5g}", f"{value:.5g}", f"{tuned.matters[name]:.0%}" if tuned.matters else "–"]
        for name, value in tuned.values.items()
    ]
    tried, whole = tuned.candidates
    parts = [
        "<header><h1>Tuned</h1>",
        *(f'<p class="reason">{escape(line)}</p>' for line in tuned.lines),
        f'<p class="run">{tuned.walks} walks, {tuned.simulated:.0f} simulated seconds, {tried} candidates, {whole} of '
        "them with all seeds</p></header>",
        "<h2>Values</h2>",
        table_card(["key", "before", "after", "matters"], rows),
        '<p class="note">Matters: the fraction of the variance of the cost, by rank, that the key explains alone.</p>',
        *(_front(front) if front is not None else ()),
    ]
    report = folder / "report.html"
    report.write_text(page("Tuned", "".join(parts), None), encoding="utf-8")
    return [*overlays, report]


def publish_tuned(tuned: Tuned, options: TuneOptions, folder: Path) -> Path:
    """Write what a search found and cost beside the published tables of campaigns; return the JSON file.

    Raises:
        ConfigError: The folder cannot be written.
    """
    rates, costs, name = tuned.rates, tuned.costs, Path(options.name).name
    walk = {"robot": name, "plant": options.plant, "control": options.control or "position", "speed_mps": options.speed}
    gains = (f"{key} {tuned.before[key]:.3g} → {value:.3g}" for key, value in tuned.values.items())
    row = {
        **walk,
        "gains": ", ".join(gains),
        "candidates": tuned.candidates[0],
        "walks": tuned.walks,
        "simulated_s": round(tuned.simulated),
        "minutes of one core": round(tuned.walked / 60.0, 1),
        "fresh seeds": rates.pairs,
        "success: before, after, p": f"{rates.first}, {rates.second}, {rates.p_value:.2g}",
        "cost [mm]: before, after, p": f"{costs.first:.1f}, {costs.second:.1f}, {costs.p_value:.2g}",
        "asked": str(Asked.AS_FOUND),
        "outcome": "measured",
        "reason": "",
    }
    about = {"name": "campaign", "source": "Gradiva's own campaigns", "what": f"Search of gains of {name}."}
    stem = "-".join(["tune", *(str(value) for value in walk.values() if value is not None)])
    return write_published(
        folder, stem, {**about, "command": options.command, "commit": current_commit(), "rows": [row]}
    )


def _overlay(path: Path, values: Mapping[str, float], comments: Sequence[str]) -> Path:
    tables: dict[str, Any] = {}
    for name, value in values.items():
        tables = merge(tables, nested(name, value))
    path.write_text("".join(f"# {line}\n" for line in comments) + f"\n{tomli_w.dumps(tables)}", encoding="utf-8")
    return path


def _figures(front: FrontSearch, point: Candidate) -> list[str]:
    """Return the objectives of a candidate as texts."""
    found = zip(front.objectives, front.values_of(point), strict=True)
    return [f"{OBJECTIVES[name].title}: {OBJECTIVES[name].factor * value:.3g}" for name, value in found]


def _front(front: FrontSearch) -> list[str]:
    """Return the table of the front, the values before in its first line."""
    before = next((each for each in front.finished if each.values == front.space.before), None)
    named = [("before", before)] if before is not None else []
    rows = [
        [
            name,
            *(text.rpartition(": ")[2] for text in _figures(front, each)),
            *(f"{v:.5g}" for v in each.values.values()),
        ]
        for name, each in (*named, *((f"front_{number}", each) for number, each in enumerate(front.front, 1)))
    ]
    heads = ["point", *(OBJECTIVES[name].title for name in front.objectives), *front.space.keys]
    note = (
        f"{len(front.front)} of {len(front.finished)} candidates, {front.given} walks; means over the search's seeds."
    )
    return ["<h2>Front of several objectives</h2>", f'<p class="note">{note}</p>', table_card(heads, rows)]


# -- command ---------------------------------------------------------------------------------------------------------

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_TYPED = {"files": "from", "settings": "set", "objectives": "objective"} | dict.fromkeys(
    ("robot", "named", "scheduler", "workers", "out", "is_published"), ""
)
"""Options by their fields, where both differ; empty for those that a result does not depend on, and the robot."""


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """Options of ``gradiva tune``, as they were typed."""

    robot: Annotated[
        str | None, typer.Argument(metavar="ROBOT", help="A name, as in: gradiva robots, or a folder.")
    ] = None
    named: Annotated[str | None, typer.Option("--robot", metavar="ROBOT", help="The same, as in gradiva walk.")] = None
    files: Annotated[
        list[str] | None, typer.Option("--from", metavar="FILE", help="As in gradiva walk; its table tune is searched.")
    ] = None
    plant: Annotated[str, typer.Option(metavar="PLANT", help="ideal, noisy or robot.")] = "robot"
    control: Annotated[str | None, typer.Option(metavar="MODE", help="position, velocity or torque.")] = None
    speed: Annotated[float | None, typer.Option(metavar="M/S", help="Forward.")] = None
    duration: Annotated[float, typer.Option(metavar="S", help="Of each walk.")] = 10.0
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Of all walks.")] = None
    walks: Annotated[int, typer.Option(metavar="N", min=1, help="After which no candidate is begun.")] = 300
    front: Annotated[
        int, typer.Option(metavar="N", min=0, help="Walks of a second stage: the front of --objective.")
    ] = 0
    objectives: Annotated[
        list[str] | None,
        typer.Option("--objective", metavar="NAME", help=f"{', '.join(OBJECTIVES)}; all by default; may be repeated."),
    ] = None
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Seeds of a candidate.")] = 10
    fresh: Annotated[int, typer.Option(metavar="N", min=1, help="Seeds of the figures before and after.")] = 20
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="First seed of the search, and of CMA-ES.")] = 0
    scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help="As in gradiva campaign.")] = ""
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="As in gradiva campaign.")] = None
    out: Annotated[str, typer.Option(metavar="DIR", help="Below it lies the folder tune-ROBOT.")] = "runs"
    is_published: Annotated[
        bool, typer.Option("--publish", help="Write what was found, and what it cost, to results/ of this folder too.")
    ] = False

    @property
    def name(self) -> str:
        """Name or folder of the robot.

        Raises:
            ConfigError: There is none, or there are two.
        """
        if (self.robot is None) == (self.named is None):
            raise ConfigError("expected one robot: gradiva tune ROBOT, or --robot ROBOT")
        return str(self.robot or self.named)

    @property
    def command(self) -> str:
        """Command that repeats the search."""
        words = ["gradiva", "tune", Path(self.name).name]
        for each in fields(self):
            value, name = getattr(self, each.name), _TYPED.get(each.name, each.name)
            if name and value != each.default:
                words += [
                    word for one in (value if isinstance(value, list) else [value]) for word in (f"--{name}", one)
                ]
        return shlex.join(map(str, words))

    @property
    def folder(self) -> Path:
        """Folder of rows, page and overlays."""
        return Path(self.out) / f"tune-{Path(self.name).name}"

    def search(self) -> Search:
        """Return the first stage.

        Raises:
            ConfigError: An option, or a range of the table ``tune``, is wrong.
        """
        for name in self.objectives or ():
            if name not in OBJECTIVES:
                raise ConfigError(f"unknown --objective '{name}'{nearest_name(name, OBJECTIVES)}")
        walk: dict[str, Any] = {"robot": self.name, "plant": self.plant, "duration": self.duration}
        walk |= {"from": list(self.files or ())}
        walk |= {name: value for name in ("control", "speed") if (value := getattr(self, name)) is not None}
        walk |= dict(map(parse_setting, self.settings or ()))
        return Search(walk, read_space(walk), range(self.seed, self.seed + self.seeds), self.walks, self.seed)

    def second(self, first: Search, found: Mapping[str, float]) -> FrontSearch:
        """Return the second stage, which begins with what the first one found."""
        chosen = tuple(dict.fromkeys(self.objectives or OBJECTIVES))
        return FrontSearch(
            first.walk, first.space, first.seeds, self.front, self.seed, objectives=chosen, seeded=[found]
        )

    def fresh_seeds(self) -> range:
        """Return the seeds of the figures before and after."""
        return range(self.seed + self.seeds, self.seed + self.seeds + self.fresh)


@app.command()
@with_options(TuneOptions)
def tune(options: TuneOptions) -> int:
    """Search the keys of a table ``tune``, or the usual gains, and write what is found as a file for --from.

    No shipped file is touched. The same command goes on with the walks that it has done.
    """
    search, folder, console = options.search(), options.folder, console_beside(JsonTarget(None))
    if options.is_published:
        check_publishable(RESULTS_FOLDER)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    second = None
    with TrialRows(folder / "rows") as rows, Engine(WALK, options.scheduler, options.workers) as engine:
        engine.note = lambda line: console.print(line, markup=False)
        with progress_bar(console, options.name, options.walks + options.front) as update:
            run_search(search, engine, rows, show := shown(console, update))
            tuned = judge(search, options.fresh_seeds(), engine, rows)
            if options.front:
                second = options.second(search, tuned.values)
                run_search(second, engine, rows, lambda done, text: show(search.given + done, text))
    for name, value in tuned.values.items():
        console.print(f"{name}: {tuned.before[name]:.5g} -> {value:.5g}", markup=False)
    for line in (*tuned.lines, *map(str, write_tuned(tuned, folder, second))):
        console.print(line, markup=False, soft_wrap=True)
    if options.is_published:
        console.print(f"published {publish_tuned(tuned, options, RESULTS_FOLDER)}", markup=False, soft_wrap=True)
    return 0


def run_command(arguments: Sequence[str]) -> int:
    """Carry out ``gradiva tune`` with its arguments; return the exit status.

    Raises:
        WalkingError: Wrong input.
    """
    status = app(list(arguments), prog_name="gradiva tune", standalone_mode=False)
    return status if isinstance(status, int) else 0
