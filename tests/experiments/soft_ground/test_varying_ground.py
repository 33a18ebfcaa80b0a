import numpy as np
import pytest

from gradiva.experiments.soft_ground.varying_ground import rows_of
from gradiva.telemetry import SignalLog

from .test_ground_change import TIMES, walked_log

WALKED = {"outcome": "walked", "reason": "done", "com_error_m": {"max": 0.002}}
STRAYED = WALKED | {"com_error_m": {"max": 0.011}}
FELL = {"outcome": "fell", "reason": "fell at 5.00 s"}


def known_from(time):
    """A log in which k is known that long after the start; the ground changes at 2 s."""
    return walked_log(np.where(time > TIMES, 1e6, 2e6))


def test_what_is_known_within_a_second_is_met():
    stiffness, damping = rows_of("k", known_from(2.5), WALKED)
    assert (stiffness["outcome"], stiffness["before"], stiffness["truth"]) == ("met", 1e6, 2e6)
    assert stiffness["value"] == pytest.approx(0.5)
    assert (damping["parameter"], damping["outcome"], damping["value"]) == ("damping", "met", 0.0)


def test_what_is_known_later_is_missed():
    assert next(rows_of("k", known_from(3.2), WALKED))["outcome"] == "missed"


@pytest.mark.parametrize(
    ("result", "outcome", "reason"),
    [
        (FELL, "fell", "fell at 5.00 s"),
        (STRAYED, "inaccurate", "walked, but CoM 11.0 mm, 10 mm is the limit"),
    ],
)
def test_a_fall_and_a_centre_of_mass_that_strays_spoil_all_rows_of_their_walk(result, outcome, reason):
    rows = list(rows_of("k", known_from(2.5), result))
    assert [(row["outcome"], row["reason"]) for row in rows] == [(outcome, reason)] * 2


@pytest.mark.parametrize(("result", "outcome"), [(WALKED, "missed"), (FELL, "fell")])
@pytest.mark.parametrize("log", [SignalLog(), walked_log(1e6, truth=1e6)])
def test_a_walk_that_meets_no_other_ground_has_a_row_that_fails(log, result, outcome):
    (row,) = rows_of("k", log, result)
    assert (row["varies"], row["value"], row["outcome"]) == ("k", None, outcome)
