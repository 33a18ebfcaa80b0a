"""Statistics of trials: intervals of a success rate, paired tests on common seeds, outliers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its stats at their first use: half a second

from gradiva.common import NDArray

_CONFIDENCE = 0.95
_FAR = 6.0  # [robust standard deviations] from the median: an outlier
_ENOUGH = 8  # [rows] with the same inputs, among which one can be an outlier
_ENOUGH_PER_TERM = 3  # [trials] of a fit
_LEAST_PAIRS = 6  # of which a signed-rank test can say anything at 5 %

Row = Mapping[str, Any]


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate after E. B. Wilson (1927); of no trials it is everything."""
    if trials == 0:
        return 0.0, 1.0
    interval = scipy.stats.binomtest(successes, trials).proportion_ci(_CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True, slots=True)
class PairedRates:
    """Compares successes of the same trials in two campaigns by McNemar's exact test.

    Attributes:
        pairs: Number of trials that both have.
        first: Number that succeed in the first one.
        second: Number that succeed in the second one.
        only_first: Number that succeed in the first one alone.
        only_second: Number that succeed in the second one alone.
        p_value: Probability of a difference as large by chance.
    """

    pairs: int
    first: int
    second: int
    only_first: int
    only_second: int
    p_value: float


def compare_rates(pairs: Sequence[tuple[bool, bool]]) -> PairedRates:
    """Return the comparison of outcomes; without any that differ p is 1."""
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    differing = only_first + only_second
    p_value = float(scipy.stats.binomtest(only_first, differing).pvalue) if differing else 1.0
    first, second = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    return PairedRates(len(pairs), first, second, only_first, only_second, p_value)


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Compares a score of the same trials in two campaigns by Wilcoxon's signed-rank test.

    Attributes:
        pairs: Number of trials that have the score in both.
        first: Median in the first one.
        second: Median in the second one.
        difference: Median of second less first.
        p_value: Probability of a difference as large by chance; NaN of too few pairs.
    """

    pairs: int
    first: float
    second: float
    difference: float
    p_value: float


def compare_scores(pairs: Sequence[tuple[float, float]]) -> PairedScores:
    """Return the comparison of a score; there is at least one pair."""
    first, second = np.array(pairs, dtype=float).T
    differences = second - first
    if not differences.any():
        p_value = 1.0
    elif len(pairs) < _LEAST_PAIRS:
        p_value = math.nan
    else:
        p_value = float(scipy.stats.wilcoxon(differences).pvalue)
    before, after, change = (float(np.median(values)) for values in (first, second, differences))
    return PairedScores(len(pairs), before, after, change, p_value)


@dataclass(frozen=True, slots=True)
class Outlier:
    """A row with a score far from that of others with the same inputs.

    Attributes:
        row: The row.
        score: Name of the score.
        value: Score of the row.
        median: Median of the rows with the same inputs.
        distance: Between both in robust standard deviations.
    """

    row: Row
    score: str
    value: float
    median: float
    distance: float


def outliers(rows: Sequence[Row], scores: Sequence[str], group: Callable[[Row], Hashable]) -> list[Outlier]:
    """Return the outliers, the farthest first; rows are compared within their group."""
    groups = defaultdict(list)
    for row in rows:
        groups[group(row)].append(row)
    found = [each for members in groups.values() for score in scores for each in _outliers_of(members, score)]
    return sorted(found, key=lambda each: -each.distance)


def _outliers_of(rows: Sequence[Row], score: str) -> list[Outlier]:
    known = [row for row in rows if isinstance(row.get(score), int | float)]
    if len(known) < _ENOUGH:
        return []
    values = np.array([float(row[score]) for row in known])
    median = float(np.median(values))
    deviation = 1.4826 * float(np.median(np.abs(values - median)))  # of a normal distribution
    if deviation <= 1e-12 * abs(median):
        return []
    distances = np.abs(values - median) / deviation
    return [
        Outlier(row, score, float(value), median, float(distance))
        for row, value, distance in zip(known, values, distances, strict=True)
        if distance > _FAR
    ]


def explained_variance(values: NDArray, costs: NDArray) -> list[float]:
    """Return the fraction of the variance of the costs' ranks that each input explains alone, [-]; none of too few.

    A parabola of each input is fitted to the ranks, all at once by least squares: falls cost a thousand times as much
    as walks, and the best value lies within a range.

    Args:
        values: Values of the inputs, on a scale on which they are even, shape (trials, inputs).
        costs: Shape (trials,).
    """
    if len(values) < _ENOUGH_PER_TERM * (2 * values.shape[-1] + 1) or np.ptp(costs) == 0.0:
        return []
    ranks = scipy.stats.rankdata(costs)
    terms = np.stack([values, values**2], axis=-1).reshape(len(values), -1)
    terms = terms - terms.mean(axis=0)
    weights = np.linalg.lstsq(terms, ranks - ranks.mean(), rcond=None)[0]
    parts = (terms * weights).reshape(*values.shape, 2).sum(axis=2)
    return [float(part) for part in parts.var(axis=0) / ranks.var()]
