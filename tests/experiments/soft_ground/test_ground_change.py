import numpy as np
import pytest

from gradiva.common import Side
from gradiva.experiments.soft_ground.ground_change import ground_changes
from gradiva.telemetry import SignalLog

TIMES = np.arange(0.0, 6.0, 0.1)
STANCES = (TIMES % 2.0 < 1.45).astype(float)  # from 0, 2 and 4 s on
TRUTH = np.where(TIMES < 2.0, 1e6, 2e6)


def walked_log(stiffness, truth=TRUTH, damping=1e4):
    """A log of the left foot on these estimates; the right one stands on even ground."""
    signals = {}
    for side, estimate, ground in (("left", stiffness, truth), ("right", np.full_like(TIMES, 1e6), 1e6)):
        signals[f"{side}_foot::contact::is_active"] = STANCES
        values = {"stiffness": (estimate, ground), "damping": (damping, 1e4)}
        for name, (told, true) in values.items():
            signals[f"{side}_foot::contact::{name}"] = np.broadcast_to(told, TIMES.shape)
            signals[f"simulation::{side}_foot::contact::{name}"] = np.where(STANCES > 0.5, true, np.nan)
    return SignalLog.from_arrays(TIMES, signals)


def test_both_parameters_of_a_stance_on_other_ground_are_told():
    late = np.where(TIMES < 2.25, 1e6, 2e6)
    stiffness, damping = ground_changes(walked_log(late), 0.1)
    assert (stiffness.side, stiffness.parameter, stiffness.before, stiffness.truth) == (
        Side.LEFT,
        "stiffness",
        1e6,
        2e6,
    )
    assert stiffness.time == pytest.approx(2.0)
    assert stiffness.settled_after == pytest.approx(0.3)
    assert (damping.parameter, damping.settled_after) == ("damping", 0.0)


def test_an_estimate_that_leaves_the_truth_again_has_not_settled():
    lost = np.where((TIMES > 2.2) & (TIMES < 3.2), 2e6, 1e6)
    assert ground_changes(walked_log(lost), 0.1)[0].settled_after is None


def test_even_ground_and_an_empty_log_have_no_changes():
    assert ground_changes(walked_log(1e6, truth=1e6), 0.1) == []
    assert ground_changes(SignalLog(), 0.1) == []
