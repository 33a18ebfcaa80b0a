"""The page that compares two campaigns: paired tests on the trials that both have walked."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError
from gradiva.telemetry import page
from gradiva_experiments.campaign.campaign import CampaignResult, is_success
from gradiva_experiments.campaign.report import SCORES, score_text, table_card
from gradiva_experiments.campaign.statistics import PairedRates, PairedScores, Row, compare_rates, compare_scores

_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two campaigns beside each other.

    Attributes:
        first: One.
        second: The other.
        paired_by: Inputs that both vary: trials of the same values are a pair.
        pairs: Their rows.
        rates: Of success.
        scores: By name, of pairs in which both walks succeeded.
    """

    first: CampaignResult
    second: CampaignResult
    paired_by: tuple[str, ...]
    pairs: list[tuple[Row, Row]]
    rates: PairedRates
    scores: dict[str, PairedScores]


def compare_campaigns(first: CampaignResult, second: CampaignResult) -> Comparison:
    """Pair the trials of two campaigns by the inputs that both vary, the seed among them, and test the differences.

    Raises:
        ConfigError: They have no trial in common, or one varies more than can be paired.
    """
    names = tuple(name for name in first.inputs if name in second.inputs)
    here, there = (_by_inputs(result, names) for result in (first, second))
    pairs = [(here[key], there[key]) for key in here if key in there]
    if not pairs:
        raise ConfigError(f"{first.folder} and {second.folder} have no trial in common: {', '.join(names)} all differ")
    both = [pair for pair in pairs if all(map(is_success, pair))]
    scores = {}
    for name in SCORES:
        values = [(a[name], b[name]) for a, b in both if a.get(name) is not None and b.get(name) is not None]
        if values:
            scores[name] = compare_scores(values)
    rates = compare_rates([(is_success(a), is_success(b)) for a, b in pairs])
    return Comparison(first, second, names, pairs, rates, scores)


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
    """Write the page, one file without a network; return its path."""
    names = comparison.first.name, comparison.second.name
    parts = [
        _heading(comparison),
        "<h2>Scores of walks that succeeded in both</h2>",
        table_card(["score", *names, "difference", "pairs", "p (Wilcoxon)"], _score_rows(comparison)),
        *_changed(comparison),
    ]
    path.write_text(page(" and ".join(names), "\n".join(parts), None), encoding="utf-8")
    return path


def summary(comparison: Comparison) -> list[str]:
    """Return the comparison as lines of text."""
    names, rates = (comparison.first.name, comparison.second.name), comparison.rates
    lines = [
        f"{rates.pairs} trials in common, paired by {', '.join(comparison.paired_by)}",
        f"success: {names[0]} {rates.first}, {names[1]} {rates.second}; {rates.only_first} in {names[0]} alone, "
        f"{rates.only_second} in {names[1]} alone, p = {rates.p_value:.2g} (McNemar)",
    ]
    return lines + [
        ": ".join((row[0], f"{row[1]}, {row[2]}, p = {row[5]} (Wilcoxon)")) for row in _score_rows(comparison)
    ]


def _heading(comparison: Comparison) -> str:
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
    note = f'<p class="note">{len(changed)} trials, the first {_MOST_ROWS}.</p>' if len(changed) > _MOST_ROWS else ""
    columns = ["outcomes", comparison.first.name, comparison.second.name]
    return ["<h2>Trials with another outcome</h2>", note, table_card(columns, rows[:_MOST_ROWS])]
