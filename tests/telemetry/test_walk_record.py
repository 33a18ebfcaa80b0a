"""Records of a run and its footprints."""

import numpy as np
import pytest
from synthetic_walk import HALF_WIDTH, STEP_LENGTH, walk_log

from gradiva.common import Side, SoleRectangle
from gradiva.telemetry import Footprint, SignalLog, adapted_steps, footprints, nominal_footprints

SOLE = SoleRectangle(x=(-0.05, 0.1), y=(-0.03, 0.04), z=0.0)


@pytest.mark.parametrize("kind", ["desired", "measured"])
def test_each_step_leaves_one_print(kind):
    path = walk_log(6.0)["right_foot::position::desired"]
    log = SignalLog.from_arrays(0.01 * np.arange(600), {f"right_foot::position::{kind}": path})
    found = footprints(log)
    assert {footprint.side for footprint in found} == {Side.RIGHT}
    expected = [[k * STEP_LENGTH, -HALF_WIDTH, 0.0] for k in (0, 1, 3, 5)]
    np.testing.assert_allclose([footprint.position for footprint in found], expected, atol=1e-3)


def test_prints_come_in_the_order_of_their_times(log):
    times = [footprint.time for footprint in footprints(log)]
    assert times == sorted(times)


def test_a_log_without_feet_has_no_prints():
    assert footprints(SignalLog.from_arrays([0.0, 0.1], {"a": np.zeros(2)})) == []


def test_steps_that_were_moved_or_delayed_are_found_with_their_planned_footholds():
    """Four steps, left foot first: moved at the end, moved and moved back, delayed, as planned."""
    place, none = [0.3, 0.1, 0.2], [np.nan] * 3
    moved = [0.33, 0.06, 0.2]
    swings = [([place, place, moved], -0.05), ([moved, place], 0.0), ([place], 0.03), ([place], 0.005)]
    rows, left = [(none, none, 0.0)], [1.0]
    for number, (adapted, delay) in enumerate(swings):
        rows += [*((place, one, delay) for one in adapted), (none, none, 0.0)]
        left += [float(number % 2)] * (len(adapted) + 1)
    nominal, adapted, delay = zip(*rows, strict=True)
    signals = {"nominal_foothold": nominal, "adapted_foothold": adapted, "delay": delay}
    log = {f"step_adaptation::{name}": np.array(samples) for name, samples in signals.items()}
    log |= {"stance_foot::is_left": np.array(left), "right_foot::position::desired": np.full((len(rows), 3), 0.02)}
    log = SignalLog.from_arrays(0.1 * np.arange(len(rows)), log)
    first, delayed = adapted_steps(log)
    assert (first.nominal.side, first.nominal.time, first.delay) == (Side.LEFT, 0.1, -0.05)
    np.testing.assert_allclose(first.nominal.position, [0.3, 0.1, 0.02])
    assert first.nominal.yaw == 0.2
    assert first.distance == pytest.approx(0.05)
    assert (delayed.nominal.side, delayed.distance, delayed.delay) == (Side.LEFT, 0.0, 0.03)
    assert [one.time for one in nominal_footprints(log)] == [0.1]
    assert adapted_steps(SignalLog.from_arrays([0.0], {"a": np.zeros(1)})) == []


def test_a_foot_that_lands_early_stands_where_its_swing_was():
    """It lands 30 cm ahead in row 3, 0.2 s early, 4 cm short of its foothold; then both feet stand."""
    none, place = [np.nan] * 3, [0.34, 0.1, 0.0]
    footholds = np.array([none, place, place, place, none])
    log = {
        "step_adaptation::nominal_foothold": footholds,
        "step_adaptation::adapted_foothold": footholds,
        "step_adaptation::delay": np.array([0.0, 0.0, 0.0, -0.2, 0.0]),
        "stance_foot::is_left": np.zeros(5),
        "walking::is_double_support": np.array([1.0, 0.0, 0.0, 1.0, 1.0]),
        "left_foot::position::desired": np.outer([0.0, 0.1, 0.2, 0.3, 0.3], [1.0, 0.0, 0.0])
        + np.array([0.0, 0.1, 0.0]),
    }
    (step,) = adapted_steps(SignalLog.from_arrays(0.1 * np.arange(5), log))
    assert (step.delay, step.end) == (-0.2, pytest.approx(0.3))
    np.testing.assert_allclose(step.move, [-0.04, 0.0], atol=1e-12)


def test_corners_turn_with_the_foot():
    straight = Footprint(Side.LEFT, np.array([1.0, 2.0, 0.0]), 0.0, 0.0).corners(SOLE)
    turned = Footprint(Side.LEFT, np.array([1.0, 2.0, 0.0]), np.pi / 2, 0.0).corners(SOLE)
    np.testing.assert_allclose(straight[0], [1.1, 1.97])
    np.testing.assert_allclose(turned[0], [1.03, 2.1])


def test_the_right_print_mirrors_the_left():
    left = Footprint(Side.LEFT, np.array([0.3, 0.1, 0.0]), 0.2, 0.0).corners(SOLE)
    right = Footprint(Side.RIGHT, np.array([0.3, -0.1, 0.0]), -0.2, 0.0).corners(SOLE)
    np.testing.assert_allclose(right[[1, 0, 3, 2]], left * [1.0, -1.0], atol=1e-12)
