"""Tables of a campaign: outcomes, scores, pairs of walks, inputs that matter; printed, or published for the site."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy  # its stats at their first use: half a second

from gradiva.common import ConfigError, nearest_name
from gradiva_experiments.campaign.campaign import REFUSED, CampaignResult, is_success, walk_cost
from gradiva_experiments.campaign.campaign_file import FAILED
from gradiva_experiments.campaign.statistics import (
    Row,
    compare_rates,
    compare_scores,
    explained_variance,
    wilson_interval,
)
from gradiva_experiments.experiment import Asked, write_published

SCORES = {
    "dcm_error_m.max": ("DCM error", "mm", 1e3),
    "dcm_error_m.rms": ("DCM error (rms)", "mm", 1e3),
    "zmp_error_m.max": ("ZMP error", "mm", 1e3),
    "zmp_error_m.rms": ("ZMP error (rms)", "mm", 1e3),
    "com_error_m.max": ("CoM error", "mm", 1e3),
    "foot_error_m.max": ("foot error", "mm", 1e3),
    "max_tilt_rad": ("tilt", "°", math.degrees(1.0)),
    "foot_slip_m": ("slip of the feet", "mm", 1e3),
    "walking_speed_mps": ("speed", "m/s", 1.0),
    "specific_energetic_cost": ("work", "J/kg/m", 1.0),
}
"""Scores that are shown: name, unit, and factor from the SI unit."""
SEED = "seed"
_UNITS = {"speed": "m/s", "lateral": "m/s", "turn": "rad/s", "duration": "s"}
"""Units of inputs that are options of a walk."""
Line = dict[str, str]
"""Cells of a row by the titles of their columns."""


def rate_text(successes: int, trials: int) -> str:
    """Return a rate with its interval, as ``47 of 50, 94 % (84 to 98 %)``."""
    if not trials:
        return "no trial yet"
    low, high = wilson_interval(successes, trials)
    return f"{successes} of {trials}, {100 * successes / trials:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)"


def lost_text(rows: Sequence[Row]) -> str:
    """Return how many trials have no walk, as ``, 2 refused, 1 failed``; empty where each has one."""
    counts = {name: sum(row["outcome"] == name for row in rows) for name in (REFUSED, FAILED)}
    return "".join(f", {count} {name}" for name, count in counts.items() if count)


def score_text(name: str, value: float | None) -> str:
    """Return a score in its unit."""
    text = _number(name, value)
    return text if text == "–" else f"{text} {SCORES[name][1]}"


def value_of(row: Row, name: str) -> Any:
    """Return an input of a trial, a dash where it has none."""
    value = row.get(name)
    return "–" if value is None else value


def _number(name: str, value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{SCORES[name][2] * value:.3g}"


def _title(name: str) -> str:
    """Return a score or an input with its unit."""
    label, unit = SCORES[name][:2] if name in SCORES else (name, _UNITS.get(name, ""))
    return f"{label} [{unit}]" if unit else label


# -- kinds of tables ---------------------------------------------------------------------------------------------------


def outcome_lines(result: CampaignResult, by: str | None = None) -> list[Line]:
    """Return outcomes: a row each value of one input, a column each combination of the others.

    Both are in the order in which they come first. A cell has the outcome of its trial, or how many of its trials did
    what was commanded. Inputs that go with that of the rows, as the speed of each robot, and the seed make no columns.
    Without ``by`` the rows are robots, or the first input that varies.

    Raises:
        ConfigError: The campaign does not vary that input.
    """
    if by is None:
        by = next((name for name in ("robot", *result.inputs) if name in result.inputs and name != SEED), SEED)
    _check_input(result, by)
    values = list(dict.fromkeys(value_of(row, by) for row in result.rows))
    others = [name for name in result.inputs if name not in (by, SEED) and not _goes_with(result.rows, name, by)]
    columns = list(dict.fromkeys(tuple(value_of(row, name) for name in others) for row in result.rows))
    cells = defaultdict(list)
    for row in result.rows:
        cells[value_of(row, by), tuple(value_of(row, name) for name in others)].append(row)
    titles = {column: _column_title(others, column, _title(by)) for column in columns}
    return [
        {_title(by): str(value), **{titles[column]: _outcome(cells[value, column]) for column in columns}}
        for value in values
    ]


def _column_title(names: Sequence[str], values: Sequence[Any], taken: str) -> str:
    """Return the values, with their names where they would be the title of the rows: ``plant robot``."""
    title = ", ".join(map(str, values)) or "outcome"
    return title if title != taken else ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def _check_input(result: CampaignResult, name: str) -> None:
    if name not in result.inputs:
        raise ConfigError(f"{result.folder}: no input '{name}' varies, but {', '.join(result.inputs) or 'none'}")


def _goes_with(rows: Sequence[Row], name: str, other: str) -> bool:
    """Return whether an input has one value for each value of another one."""
    return len({(value_of(row, other), value_of(row, name)) for row in rows}) == len(
        {value_of(row, other) for row in rows}
    )


def _outcome(rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return str(rows[0]["outcome"])
    return f"{sum(map(is_success, rows))} of {len(rows)}{lost_text(rows)}" if rows else "not walked"


def score_lines(result: CampaignResult, scores: Sequence[str]) -> list[Line]:
    """Return scores: a row each combination of inputs, with its rate of success.

    A cell has median and largest value of the trials that did what was commanded.

    Raises:
        ConfigError: No such score is shown.
    """
    _check_scores(scores)
    names = [name for name in result.inputs if name != SEED]
    groups = defaultdict(list)
    for row in result.rows:
        groups[tuple(value_of(row, name) for name in names)].append(row)
    return [
        {
            **_inputs(names, values),
            "success": rate_text(sum(map(is_success, rows)), len(rows)),
            **{f"{_title(name)}: median, largest": _spread(rows, name) for name in scores},
        }
        for values, rows in groups.items()
    ]


def _check_scores(scores: Sequence[str]) -> None:
    for name in scores:
        if name not in SCORES:
            raise ConfigError(f"no score '{name}'{nearest_name(name, SCORES)}")


def _inputs(names: Sequence[str], values: Sequence[Any]) -> Line:
    return {_title(name): str(value) for name, value in zip(names, values, strict=True)}


def _spread(rows: Sequence[Row], score: str) -> str:
    values = [row[score] for row in rows if is_success(row) and row.get(score) is not None]
    return f"{_number(score, float(np.median(values)))}, {_number(score, max(values))}" if values else "–"


def paired_lines(result: CampaignResult, by: str, scores: Sequence[str]) -> list[Line]:
    """Return pairs of walks that differ in one input alone: a row each combination of the others, and one of all.

    A cell has both values and p: of success by McNemar's test, of the medians of a score, of pairs in which both walks
    succeeded, by Wilcoxon's. A trial that was refused or failed is no walk. The row of all has success alone: scores of
    several robots and speeds have no common median.

    Raises:
        ConfigError: The campaign does not vary that input, or not between two values; no two walks differ in it alone;
            no such score is shown.
    """
    _check_scores(scores)
    both = _two_values(result, by)
    names = [name for name in result.inputs if name not in (by, SEED)]
    groups = _pairs(result.rows, by, both, names)
    whole = [pair for pairs in groups.values() for pair in pairs]
    if not whole:
        raise ConfigError(f"{result.folder}: no two walks differ in '{by}' alone")
    lines = [{**_inputs(names, values), **_paired(pairs, both, scores)} for values, pairs in groups.items()]
    if len(lines) > 1:
        total = {**dict.fromkeys(map(_title, names), "all"), **_paired(whole, both, ())}
        lines.append({title: total.get(title, "–") for title in lines[0]})
    return lines


def _two_values(result: CampaignResult, by: str) -> tuple[Any, Any]:
    _check_input(result, by)
    values = list(dict.fromkeys(value_of(row, by) for row in result.rows))
    if len(values) != 2:
        raise ConfigError(f"{result.folder}: pairs need two values of '{by}', it has {', '.join(map(str, values))}")
    return values[0], values[1]


def _pairs(
    rows: Sequence[Row], by: str, both: tuple[Any, Any], names: Sequence[str]
) -> dict[tuple[Any, ...], list[tuple[Row, Row]]]:
    """Return the pairs of walks with the same seed by the values of the other inputs; none where one did not walk."""
    found: dict[tuple[Any, ...], dict[Any, Row]] = defaultdict(dict)
    for row in rows:
        found[tuple(value_of(row, name) for name in (*names, SEED))][value_of(row, by)] = row
    groups: dict[tuple[Any, ...], list[tuple[Row, Row]]] = {}
    for values, pair in found.items():
        pairs = groups.setdefault(values[:-1], [])
        if len(pair) == len(both) and all(map(has_walked, pair.values())):
            pairs.append((pair[both[0]], pair[both[1]]))
    return groups


def has_walked(row: Row) -> bool:
    """Return whether a trial is a walk, lost ones included: it was neither refused, nor did it fail."""
    return row["outcome"] not in (REFUSED, FAILED)


def _paired(pairs: Sequence[tuple[Row, Row]], both: Sequence[Any], scores: Sequence[str]) -> Line:
    of = f"{both[0]}, {both[1]}, p"
    rates = compare_rates([(is_success(a), is_success(b)) for a, b in pairs])
    success = f"{rates.first}, {rates.second}, {rates.p_value:.2g}" if pairs else "–"
    cells = {"pairs": str(rates.pairs), f"success: {of}": success}
    for name in scores:
        known = [(a[name], b[name]) for a, b in pairs if _is_known(a, name) and _is_known(b, name)]
        cells[f"{_title(name)}: {of}"] = _tested(name, known) if known else "–"
    return cells


def _is_known(row: Row, score: str) -> bool:
    return is_success(row) and row.get(score) is not None


def _tested(score: str, pairs: Sequence[tuple[float, float]]) -> str:
    found = compare_scores(pairs)
    p_value = "too few" if math.isnan(found.p_value) else f"{found.p_value:.2g}"
    return f"{_number(score, found.first)}, {_number(score, found.second)}, {p_value}"


def explained_variance_lines(result: CampaignResult) -> list[Line]:
    """Return the variance that each input explains, the most first, see `inputs_that_matter`.

    Raises:
        ConfigError: There are too few walks for it.
    """
    found = sorted(inputs_that_matter(result).items(), key=lambda item: -item[1])
    if not found:
        raise ConfigError(f"{result.folder} has no numbers with enough walks to say which of them matter")
    return [{"input": name, "explains": f"{fraction:.0%}"} for name, fraction in found]


def inputs_that_matter(result: CampaignResult) -> dict[str, float]:
    """Return the fraction of the variance of the walks' cost that each input explains, see `explained_variance`.

    Of inputs that are numbers, by their ranks: whatever the scale of their draws. Empty where there are too few walks.
    """
    rows = list(filter(has_walked, result.rows))
    names = [name for name in result.inputs if name != SEED and _are_different_numbers(rows, name)]
    values = np.array([scipy.stats.rankdata([row[name] for row in rows]) / len(rows) for name in names]).T
    costs = np.array([walk_cost(row) for row in rows])
    return dict(zip(names, explained_variance(values, costs), strict=False))


def _are_different_numbers(rows: Sequence[Row], name: str) -> bool:
    values = {row.get(name) for row in rows}
    return len(values) > 2 and all(isinstance(value, float) for value in values)


# -- one that is asked for, printed and published ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of ``gradiva campaign table``: which table.

    Attributes:
        by: Input of which each value gets a row of outcomes; None: robot, or what varies.
        scores: Scores of each combination of inputs, or of each pair.
        paired: Input in which the trials of a pair differ.
        matters: Whether inputs that matter are asked for.
    """

    by: str | None = None
    scores: tuple[str, ...] = ()
    paired: str | None = None
    matters: bool = False

    def __post_init__(self) -> None:
        if (self.by is not None) + (bool(self.scores) or self.paired is not None) + self.matters > 1:
            raise ConfigError(
                "--by is of outcomes, --score and --paired have a row each combination of inputs, --matters one an "
                "input: one of the three"
            )

    def lines(self, result: CampaignResult) -> list[Line]:
        """Return the rows of the table.

        Raises:
            ConfigError: The campaign has no such input or score.
        """
        if self.matters:
            return explained_variance_lines(result)
        if self.paired is not None:
            return paired_lines(result, self.paired, self.scores)
        return score_lines(result, self.scores) if self.scores else outcome_lines(result, self.by)

    @property
    def words(self) -> list[str]:
        """Words of the command line."""
        words = ["--by", self.by] if self.by is not None else []
        words += ["--paired", self.paired] if self.paired is not None else []
        return [*words, *(word for name in self.scores for word in ("--score", name)), *["--matters"] * self.matters]

    @property
    def kind(self) -> str:
        """Name of the kind of table: a campaign has one published table of each."""
        kinds = {"matters": self.matters, "paired": self.paired is not None, "scores": bool(self.scores)}
        return next((name for name, is_asked in kinds.items() if is_asked), "outcomes")


def markdown(lines: Sequence[Line]) -> str:
    """Return the rows of a table in Markdown."""
    head = list(lines[0]) if lines else []
    cells = [head, ["---"] * len(head), *([line[name] for name in head] for line in lines)]
    return "\n".join("| " + " | ".join(words) + " |" for words in cells)


def publish_table(result: CampaignResult, options: TableOptions, folder: Path) -> Path:
    """Write a table of a campaign beside the published runs of experiments, one of each kind; return the JSON file.

    Raises:
        ConfigError: The folder cannot be written, or the campaign has no row yet.
    """
    lines = options.lines(result)
    if not lines:
        raise ConfigError(f"{result.folder} has no row that could be published")
    words = ["gradiva", "campaign", "table", _shown_path(result.folder), *options.words]
    what = f"Campaign {result.name}: {len(result.rows)} of {result.count} walks{_seeds(result)}{_versions(result)}."
    rows = [{**line, "asked": str(Asked.AS_FOUND), "outcome": "measured", "reason": ""} for line in lines]
    about = {"name": "campaign", "source": "Gradiva's own campaigns", "what": what, "command": shlex.join(words)}
    return write_published(
        folder, f"campaign-{result.name}-{options.kind}", {**about, "commit": result.commit, "rows": rows}
    )


def _shown_path(folder: Path) -> str:
    """Return a folder as it is typed here: one below the working directory without that."""
    whole = folder.absolute()
    return str(whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else folder)


def _seeds(result: CampaignResult) -> str:
    seeds = sorted({int(row[SEED]) for row in result.rows})
    return f", {len(seeds)} seeds from {seeds[0]} on" if len(seeds) > 1 else f", seed {seeds[0]}"


def _versions(result: CampaignResult) -> str:
    """Return what is to be known of rows that are not all of one code."""
    codes = {row.get("code") for row in result.rows}
    return f"; the rows are of {len(codes)} versions of the code" if len(codes) > 1 else ""
