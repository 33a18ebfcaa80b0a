"""The page of a campaign, and that which compares two by paired tests on the trials that both have walked."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import ConfigError
from gradiva.telemetry import DCM, INK, STYLE, page
from gradiva_experiments.campaign.campaign import REFUSED, CampaignResult, counted, is_success
from gradiva_experiments.campaign.campaign_file import FAILED, grouped_reasons
from gradiva_experiments.campaign.statistics import (
    PairedRates,
    PairedScores,
    Row,
    compare_rates,
    compare_scores,
    outliers,
    wilson_interval,
)
from gradiva_experiments.campaign.tables import (
    SCORES,
    SEED,
    has_walked,
    inputs_that_matter,
    rate_text,
    score_text,
    value_of,
)

CLOSENESS = "dcm_error_m.max"
"""Score by which a walk that succeeded came close to a fall: the DCM is what diverges."""
_BINS = 8  # of an input with more values than `_MOST_VALUES`
_MOST_VALUES = 12
_MOST_MAPS, _MOST_ROWS, _MOST_CHANGED, _MOST_REASONS = 10, 10, 20, 8


def write_campaign_report(result: CampaignResult) -> Path:
    """Write ``report.html`` into the campaign's folder, one file without a network; return its path.

    Raises:
        ConfigError: It cannot be written.
    """
    parts = [_heading(result)]
    if result.rows:
        parts += [
            *_inputs(result),
            *_explained_variance(result),
            *_maps(result),
            *_causes(result.rows),
            *_closest(result.rows),
            *_outliers(result),
        ]
    path = result.folder / "report.html"
    return _written(path, page(f"Campaign {result.name}", "\n".join(parts), None))


def _written(path: Path, text: str) -> Path:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
    return path


def _heading(result: CampaignResult) -> str:
    rows = result.rows
    walked = sum(map(is_success, rows))
    missing = (
        f"{result.count - len(rows)} of {counted(result.count, 'trial')} not walked yet. "
        if len(rows) < result.count
        else ""
    )
    codes = {row.get("code") for row in rows if row.get("code")}
    mixed = f"The rows are of {len(codes)} versions of the code. " if len(codes) > 1 else ""
    return (
        f'<header><div class="line"><h1>Campaign {escape(result.name)}</h1></div>'
        f'<p class="reason">{rate_text(walked, len(rows))} did what was commanded; in brackets the 95 % interval after '
        f'Wilson.</p><p class="run">{missing}{mixed}</p></header>'
    )


def not_walked(result: CampaignResult) -> list[str]:
    """Return a line for each reason why trials were refused or failed, the most frequent first.

    Reasons that differ by their numbers alone are one, and the first of them is shown.
    """
    reasons = {
        name: grouped_reasons(row["reason"] for row in result.rows if row["outcome"] == name)
        for name in (REFUSED, FAILED)
    }
    found = sorted(((name, same) for name, each in reasons.items() for same in each), key=lambda one: -len(one[1]))
    lines = [
        f"{len(same)} of {len(result.rows)} {outcome}{', the first' * (len(set(same)) > 1)}: {same[0]}"
        for outcome, same in found[:_MOST_REASONS]
    ]
    left = sum(len(same) for _, same in found[_MOST_REASONS:])
    return [*lines, f"{left} for {len(found) - _MOST_REASONS} other reasons"] if left else lines


# -- one input, two inputs -------------------------------------------------------------------------------------------


def _inputs(result: CampaignResult) -> list[str]:
    names = [name for name in result.inputs if name != SEED and len({value_of(row, name) for row in result.rows}) > 1]
    if not names:
        return []
    cards = "".join(_card(_input_figure(result.rows, name), name) for name in names)
    return ["<h2>Success and DCM error against each input</h2>", f'<div class="columns">{cards}</div>']


def binned(rows: Sequence[Row], name: str) -> list[tuple[str, list[Row]]]:
    """Return the rows by value of an input, in order, with a label; many numbers by equally filled ranges."""
    values = {value_of(row, name) for row in rows}
    numbers = all(isinstance(value, int | float) for value in values)
    if not numbers or len(values) <= _MOST_VALUES:
        ordered = sorted(values, key=(lambda value: value) if numbers else str)
        groups = defaultdict(list)
        for row in rows:
            groups[value_of(row, name)].append(row)
        return [(f"{value:.4g}" if numbers else str(value), groups[value]) for value in ordered]
    sorted_rows = sorted(rows, key=lambda row: row[name])
    parts = [part for part in np.array_split(np.arange(len(rows)), _BINS) if len(part)]
    chunks = [[sorted_rows[index] for index in part] for part in parts]
    return [(f"{chunk[0][name]:.3g} to {chunk[-1][name]:.3g}", chunk) for chunk in chunks]


def _input_figure(rows: Sequence[Row], name: str) -> Figure:
    groups = binned(rows, name)
    with rc_context(STYLE):
        figure = Figure(figsize=(5.4, 3.6), layout="constrained")
        success, error = figure.subplots(2, 1, sharex=True)
        _draw_success(success, [members for _, members in groups])
        _draw_errors(error, [members for _, members in groups])
        error.set_xticks(range(len(groups)), [label for label, _ in groups], rotation=30 if len(groups) > 5 else 0)
        error.set_xlabel(name)
    return figure


def _draw_success(axes: Axes, groups: Sequence[Sequence[Row]]) -> None:
    for place, rows in enumerate(groups):
        walked = sum(map(is_success, rows))
        low, high = wilson_interval(walked, len(rows))
        axes.plot([place, place], [low, high], color=INK, linewidth=1.0)
        axes.plot(place, walked / len(rows), "o", color=INK, markersize=4)
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("success")


def _draw_errors(axes: Axes, groups: Sequence[Sequence[Row]]) -> None:
    for place, rows in enumerate(groups):
        errors = [1e3 * row[CLOSENESS] for row in rows if is_success(row) and row.get(CLOSENESS) is not None]
        if errors:
            low, middle, high = np.percentile(errors, (10, 50, 90))
            axes.plot([place, place], [low, high], color=DCM, linewidth=1.0)
            axes.plot(place, middle, "o", color=DCM, markersize=4)
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("largest DCM error [mm],\n10 to 90 % of successes")


def _explained_variance(result: CampaignResult) -> list[str]:
    found = sorted(inputs_that_matter(result).items(), key=lambda item: -item[1])
    if not found:
        return []
    note = "The fraction of the variance of rms DCM and ZMP error, by rank, falls last, that an input explains alone."
    cells = [[name, f"{fraction:.0%}"] for name, fraction in found]
    return ["<h2>Inputs that matter</h2>", f'<p class="note">{note}</p>', table_card(["input", "explains"], cells)]


def _maps(result: CampaignResult) -> list[str]:
    names = [name for name in result.inputs if name != SEED and len({value_of(row, name) for row in result.rows}) > 1]
    pairs = list(itertools.combinations(names, 2))
    if not pairs:
        return []
    left_out = f'<p class="note">The first {_MOST_MAPS} of {len(pairs)} pairs.</p>' if len(pairs) > _MOST_MAPS else ""
    cards = "".join(_card(_map_figure(result.rows, *pair), " and ".join(pair)) for pair in pairs[:_MOST_MAPS])
    return ["<h2>Success against pairs of inputs</h2>", left_out, f'<div class="columns">{cards}</div>']


def _map_figure(rows: Sequence[Row], across: str, upward: str) -> Figure:
    """Return the rate of success by two inputs; cells without a trial are empty."""
    columns, lines = binned(rows, across), binned(rows, upward)
    rates = np.full((len(lines), len(columns)), np.nan)
    for column, (_, members) in enumerate(columns):
        inside = {id(row) for row in members}
        for line, (_, others) in enumerate(lines):
            both = [is_success(row) for row in others if id(row) in inside]
            rates[line, column] = np.mean(both) if both else np.nan
    with rc_context(STYLE | {"axes.grid": False}):
        figure = Figure(figsize=(5.4, 3.6), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(rates, origin="lower", aspect="auto", vmin=0.0, vmax=1.0, cmap="RdYlGn")
        axes.set_xticks(range(len(columns)), [label for label, _ in columns], rotation=30 if len(columns) > 5 else 0)
        axes.set_yticks(range(len(lines)), [label for label, _ in lines])
        axes.set_xlabel(across)
        axes.set_ylabel(upward)
        figure.colorbar(image, label="success")
    return figure


def _card(figure: Figure, title: str) -> str:
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    drawing = stream.getvalue().partition("<svg")
    return f'<figure class="card"><h3>{escape(title)}</h3><div class="scroll">{drawing[1]}{drawing[2]}</div></figure>'


# -- rows ------------------------------------------------------------------------------------------------------------


def _causes(rows: Sequence[Row]) -> list[str]:
    failed = [row for row in rows if not is_success(row)]
    if not failed:
        return []
    counted = Counter((str(row["outcome"]), str(row.get("cause") or row["reason"])) for row in failed)
    cells = [[outcome, cause, str(count)] for (outcome, cause), count in counted.most_common(4 * _MOST_ROWS)]
    return ["<h2>Causes</h2>", table_card(["outcome", "cause", "trials"], cells)]


def _closest(rows: Sequence[Row]) -> list[str]:
    known = [row for row in rows if is_success(row) and row.get(CLOSENESS) is not None]
    closest = sorted(known, key=lambda row: -row[CLOSENESS])[:_MOST_ROWS]
    if not closest:
        return []
    cells = [[score_text(CLOSENESS, row[CLOSENESS]), str(row["command"])] for row in closest]
    note = '<p class="note">Walks that succeeded with the largest DCM errors.</p>'
    return ["<h2>Closest calls</h2>", note, table_card(["DCM error", "repeated by"], cells)]


def _outliers(result: CampaignResult) -> list[str]:
    names = [name for name in result.inputs if name != SEED]
    walked = [row for row in result.rows if is_success(row)]
    found = outliers(walked, list(SCORES), lambda row: tuple(str(row.get(name)) for name in names))
    cells = [
        [
            SCORES[each.score][0],
            score_text(each.score, each.value),
            score_text(each.score, each.median),
            each.row["command"],
        ]
        for each in found[:_MOST_ROWS]
    ]
    if not cells:
        return []
    note = f'<p class="note">{len(found)} scores far from the median of walks that differ in the seed alone.</p>'
    return ["<h2>Outliers</h2>", note, table_card(["score", "value", "median", "repeated by"], cells)]


def table_card(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts, as a card of a page."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="card scroll"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


# -- two campaigns -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two campaigns beside each other.

    Attributes:
        first: One.
        second: The other.
        paired_by: Inputs that both vary: trials of the same values are a pair.
        pairs: Their rows, where both have walked.
        unwalked: Number of pairs of which a trial was refused or failed, which is no lost walk.
        rates: Rates of success.
        scores: Scores by name, of pairs in which both walks succeeded.
    """

    first: CampaignResult
    second: CampaignResult
    paired_by: tuple[str, ...]
    pairs: list[tuple[Row, Row]]
    unwalked: int
    rates: PairedRates
    scores: dict[str, PairedScores]


def compare_campaigns(first: CampaignResult, second: CampaignResult) -> Comparison:
    """Pair the trials of two campaigns by the inputs that both vary, the seed among them, and test the differences.

    Raises:
        ConfigError: They have no trial in common, or one varies more than can be paired.
    """
    names = tuple(name for name in first.inputs if name in second.inputs)
    here, there = (_by_inputs(result, names) for result in (first, second))
    common = [(here[key], there[key]) for key in here if key in there]
    if not common:
        raise ConfigError(f"{first.folder} and {second.folder} have no trial in common: {', '.join(names)} all differ")
    pairs = [pair for pair in common if all(map(has_walked, pair))]
    both = [pair for pair in pairs if all(map(is_success, pair))]
    scores = {}
    for name in SCORES:
        values = [(a[name], b[name]) for a, b in both if a.get(name) is not None and b.get(name) is not None]
        if values:
            scores[name] = compare_scores(values)
    rates = compare_rates([(is_success(a), is_success(b)) for a, b in pairs])
    return Comparison(first, second, names, pairs, len(common) - len(pairs), rates, scores)


def _by_inputs(result: CampaignResult, names: tuple[str, ...]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in result.rows:
        key = json.dumps([row.get(name) for name in names])
        if key in found:
            others = ", ".join(name for name in result.inputs if name not in names)
            raise ConfigError(
                f"{result.folder} varies {others}, which the other campaign does not: several of its trials would be a "
                "pair of one; compare campaigns that vary the same"
            )
        found[key] = row
    return found


def write_campaign_comparison(comparison: Comparison, path: Path) -> Path:
    """Write the page, one file without a network; return its path.

    Raises:
        ConfigError: It cannot be written.
    """
    names = comparison.first.name, comparison.second.name
    parts = [
        _compared(comparison),
        "<h2>Scores of walks that succeeded in both</h2>",
        table_card(["score", *names, "difference", "pairs", "p (Wilcoxon)"], _score_rows(comparison)),
        *_changed(comparison),
    ]
    return _written(path, page(" and ".join(names), "\n".join(parts), None))


def summary(comparison: Comparison) -> list[str]:
    """Return the comparison as lines of text."""
    names, rates = (comparison.first.name, comparison.second.name), comparison.rates
    unwalked = f"; {comparison.unwalked} more refused or failed" if comparison.unwalked else ""
    lines = [
        f"{counted(rates.pairs, 'trial')} in common, paired by {', '.join(comparison.paired_by)}{unwalked}",
        f"success: {names[0]} {rates.first}, {names[1]} {rates.second}; {rates.only_first} in {names[0]} alone, "
        f"{rates.only_second} in {names[1]} alone, p = {rates.p_value:.2g} (McNemar)",
    ]
    return lines + [
        ": ".join((row[0], f"{row[1]}, {row[2]}, p = {row[5]} (Wilcoxon)")) for row in _score_rows(comparison)
    ]


def _compared(comparison: Comparison) -> str:
    first, second = summary(comparison)[:2]
    return (
        f'<header><div class="line"><h1>{escape(comparison.first.name)} and {escape(comparison.second.name)}</h1></div>'
        f'<p class="reason">{escape(second)}</p><p class="run">{escape(first)}</p></header>'
    )


def _score_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [
            SCORES[name][0],
            *(score_text(name, value) for value in (score.first, score.second, score.difference)),
            str(score.pairs),
            "too few" if math.isnan(score.p_value) else f"{score.p_value:.2g}",
        ]
        for name, score in comparison.scores.items()
    ]


def _changed(comparison: Comparison) -> list[str]:
    """Return the trials of which one succeeded and one did not, with the commands that repeat both."""
    changed = [pair for pair in comparison.pairs if is_success(pair[0]) != is_success(pair[1])]
    if not changed:
        return []
    rows: list[list[Any]] = [[f"{a['outcome']}, {b['outcome']}", a["command"], b["command"]] for a, b in changed]
    note = (
        f'<p class="note">{len(changed)} trials, the first {_MOST_CHANGED}.</p>' if len(changed) > _MOST_CHANGED else ""
    )
    columns = ["outcomes", comparison.first.name, comparison.second.name]
    return ["<h2>Trials with another outcome</h2>", note, table_card(columns, rows[:_MOST_CHANGED])]
