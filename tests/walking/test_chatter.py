"""Chatter: root mean squares above 25 Hz, after a walk and online."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Side
from gradiva.walking import ChatterRecord
from gradiva.walking.chatter import ChatterMonitor, high_passed

WEIGHT = 300.0  # [N]
PERIODS = (0.001, 0.005, 0.01)
LIFT_OFF, TOUCH_DOWN, END = 1.0, 2.0, 4.0  # [s]


def tick(time, forces, zmp=(0.0, 0.0), commands=(0.0, 0.0)):
    wrenches = {side: np.array([0.0, 0.0, force, 0.0, 0.0, 0.0]) for side, force in zip(Side, forces, strict=True)}
    return SimpleNamespace(
        time=time,
        desired=object(),
        reference=SimpleNamespace(is_walking=True, is_double_support=not LIFT_OFF < time < TOUCH_DOWN),
        robot_state=SimpleNamespace(foot_wrench=wrenches.__getitem__, zmp_position=np.array(zmp), zmp_lag=0.0),
        command=SimpleNamespace(values=np.array(commands)),
    )


def swaying(time, size):
    """A tick with the weight shifting at 1 Hz and, of the given size, an oscillation at 40 Hz."""
    slow, fast = 100.0 * np.sin(2.0 * np.pi * time), np.sin(2.0 * np.pi * 40.0 * time)
    forces = 150.0 + slow + 30.0 * size * fast, 150.0 - slow
    return tick(time, forces, (0.0, 1e-3 * size * fast), (0.1 * time, 0.02 * size * fast))


def record_of(size, period=0.01):
    """A record whose oscillation has a size that depends on the time."""
    record = ChatterRecord(WEIGHT, period)
    for time in np.arange(0.0, END, period):
        record.add(swaying(time, size(time)))
    return record


@pytest.mark.parametrize("period", PERIODS)
def test_what_is_well_above_25_hz_passes_what_is_well_below_does_not(period):
    times = np.arange(0.0, 2.0, period)[:, None]
    slow, fast = 7.0 + np.sin(2.0 * np.pi * 10.0 * times), np.sin(2.0 * np.pi * 45.0 * times)
    middle = slice(len(times) // 4, -len(times) // 4)
    np.testing.assert_allclose(high_passed(slow, period)[middle], 0.0, atol=2e-3)
    np.testing.assert_allclose(high_passed(fast, period)[middle], fast[middle], atol=0.02)


def test_at_ticks_of_20_ms_an_alternation_counts_with_its_amplitude():
    alternating = 5.0 + 3.0 * (-1.0) ** np.arange(100)[:, None]
    assert np.abs(high_passed(alternating, 0.02))[1:] == pytest.approx(3.0)


def test_the_figures_are_fractions_of_the_weight_metres_and_the_joint_with_most_of_it():
    shift = record_of(lambda time: float(time > TOUCH_DOWN)).figures()["shift"]
    assert shift.foot_force == pytest.approx(0.1 / np.sqrt(2.0), rel=0.02)
    assert shift.zmp == pytest.approx(1e-3 / np.sqrt(2.0), rel=0.02)
    assert shift.command == pytest.approx(0.02 / np.sqrt(2.0), rel=0.02)
    assert shift.joint == 1


@pytest.mark.parametrize(
    ("phase", "begin", "end"),
    [("double_support", 0.0, LIFT_OFF), ("single_support", LIFT_OFF, TOUCH_DOWN), ("shift", TOUCH_DOWN + 0.1, 3.0)],
)
def test_an_oscillation_counts_in_its_phase(phase, begin, end):
    figures = record_of(lambda time: float(begin < time < end)).figures()
    loudest = max(figures, key=lambda name: figures[name].foot_force)
    assert loudest == phase
    assert figures[phase].foot_force > 0.04


def test_in_simulation_the_ground_counts_whatever_the_sensors_say():
    folded, hidden = ChatterRecord(WEIGHT, 0.01), ChatterRecord(WEIGHT, 0.01)
    for time in np.arange(0.0, END, 0.01):
        for record, sensed, true in ((folded, 1.0, 0.0), (hidden, 0.0, 1.0)):
            exerted = swaying(time, true).robot_state
            forces = np.array([exerted.foot_wrench(side)[2] for side in Side])
            record.add(swaying(time, sensed), (forces, exerted.zmp_position))
    assert folded.figures()["shift"].foot_force < 1e-4
    assert hidden.figures()["shift"].foot_force == pytest.approx(0.1 / np.sqrt(2.0), rel=0.02)
    assert hidden.figures()["shift"].zmp == pytest.approx(1e-3 / np.sqrt(2.0), rel=0.02)
    assert hidden.frequency(1.0, 2.0) == pytest.approx(40.0, abs=1.0)


def test_the_impact_of_a_foot_that_lands_late_is_no_chatter_of_the_shift():
    landing = TOUCH_DOWN + 0.3

    def walked(until):
        record = ChatterRecord(WEIGHT, 0.01)
        for time in np.arange(0.0, until, 0.01):
            impact = 60.0 * np.exp(-(time - landing) / 0.02) * np.cos(2.0 * np.pi * 40.0 * (time - landing))
            record.add(tick(time, (200.0, 100.0 + impact) if time >= landing else (300.0, 0.0)))
        return record

    shift = walked(END)
    assert shift.last_shift() == pytest.approx((landing + 0.1, landing + 1.0), abs=0.011)
    assert shift.figures()["shift"].foot_force < 0.002
    assert "shift" not in walked(landing - 0.1).figures()  # it has not landed


def test_the_loads_of_a_record_are_those_of_its_ticks_over_the_weight():
    record = ChatterRecord(WEIGHT, 0.01)
    for time in (0.5, 1.5, 2.5):
        record.add(tick(time, (150.0, 300.0 * time)))
    times, is_single, loads = record.loads()
    assert times.tolist() == [0.5, 1.5, 2.5]
    assert is_single.tolist() == [False, True, False]
    assert loads.tolist() == [[0.5, 0.5], [0.5, 1.5], [0.5, 2.5]]


def test_the_frequency_is_that_of_the_oscillation():
    assert record_of(lambda time: 1.0).frequency(1.0, 2.0) == pytest.approx(40.0, abs=1.0)


def test_a_shock_is_no_sustained_oscillation():
    assert record_of(lambda time: 1.0).sustained(2.0, 2.5) == pytest.approx(0.1 / np.sqrt(2.0), rel=0.1)
    assert record_of(lambda time: float(2.2 < time < 2.3)).sustained(2.0, 2.5) < 0.02


@pytest.mark.parametrize(("begin", "end"), [(-1.0, -0.5), (END - 0.6, END + 0.3), (np.nan, np.nan)])
def test_of_a_time_that_is_not_recorded_to_its_end_it_is_not_known_whether_the_loop_oscillates(begin, end):
    assert record_of(lambda time: 1.0).sustained(begin, end) is None


def test_an_oscillation_that_grows_lasts_and_a_sole_that_hits_the_ground_twice_does_not():
    growing = record_of(lambda time: 0.2 + max(0.0, min(1.0, 2.0 * (time - TOUCH_DOWN))))
    hits = record_of(lambda time: 3.0 * (0.25 < time - TOUCH_DOWN < 0.3 or 0.6 < time - TOUCH_DOWN < 0.65))
    (growing_shift, growing_lasts), (hit_shift, hit_lasts) = (
        (one.figures()["shift"].foot_force, one.sustained(*one.last_shift())) for one in (growing, hits)
    )
    assert growing_lasts > 0.5 * growing_shift > 0.02
    assert hit_shift > 0.04 > 10.0 * hit_lasts


def test_a_record_of_nothing_has_no_figures():
    assert ChatterRecord(WEIGHT, 0.01).figures() == {}
    assert ChatterRecord(WEIGHT, 0.01).sustained(0.0, 1.0) is None


@pytest.mark.parametrize("period", PERIODS)
def test_online_the_last_second_counts_and_the_first_sample_is_no_step(period):
    monitor = ChatterMonitor(WEIGHT, period)
    assert monitor.chatter is None
    for time in np.arange(0.0, 1.0, period):
        monitor.update(tick(time, (150.0, 150.0)))
    assert monitor.chatter.foot_force < 1e-9
    for time in np.arange(0.0, 5.0, period):
        monitor.update(swaying(time, 1.0))
    assert monitor.chatter.foot_force == pytest.approx(0.1 / np.sqrt(2.0), rel=0.05)
    assert monitor.chatter.zmp == pytest.approx(1e-3 / np.sqrt(2.0), rel=0.05)
    monitor.update(SimpleNamespace(desired=None))
    assert monitor.chatter is None


def test_online_an_alternation_at_ticks_of_20_ms_counts_with_its_amplitude():
    monitor = ChatterMonitor(WEIGHT, 0.02)
    for count in range(500):
        monitor.update(tick(0.02 * count, (150.0 + 3.0 * (-1.0) ** count, 150.0)))
    assert monitor.chatter.foot_force == pytest.approx(0.01, rel=0.01)
