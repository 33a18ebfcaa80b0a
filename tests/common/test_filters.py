"""First-order low pass and time profiles."""

import numpy as np
import pytest

from gradiva.common import LowPass, low_pass_gain, minimum_acceleration, minimum_jerk


def test_a_low_pass_rises_to_63_percent_in_its_time_constant():
    low_pass = LowPass(0.02)
    low_pass.update(np.zeros(1), 0.0)
    for _ in range(20):
        value = low_pass.update(np.ones(1), 0.001)
    assert value[0] == pytest.approx(1.0 - np.exp(-1.0))


def test_the_first_sample_passes_unchanged_unless_a_value_was_given():
    np.testing.assert_array_equal(LowPass(0.1).update(np.ones(2), 0.01), np.ones(2))
    assert LowPass(0.1, np.zeros(2)).update(np.ones(2), 0.01)[0] == pytest.approx(1.0 - np.exp(-0.1))


def test_no_time_constant_passes_all_through():
    low_pass = LowPass(0.0, np.zeros(1))
    assert low_pass.update(np.array([3.0]), 0.01)[0] == 3.0


def test_a_low_pass_goes_half_way_in_a_half_life_and_all_the_way_without_a_time_constant():
    assert low_pass_gain(0.1, 0.1 * np.log(2.0)) == pytest.approx(0.5)
    assert low_pass_gain(0.0, 0.001) == 1.0


@pytest.mark.parametrize("law", [minimum_jerk, minimum_acceleration])
def test_the_laws_start_at_zero_and_end_at_one_at_rest(law):
    assert law(0.0)[:2] == (0.0, 0.0)
    assert law(1.0)[:2] == (1.0, 0.0)
    assert law(0.5)[0] == pytest.approx(0.5)
    assert law(-1.0)[0] == 0.0
    assert law(2.0)[0] == 1.0


@pytest.mark.parametrize("law", [minimum_jerk, minimum_acceleration])
def test_the_derivatives_are_those_of_the_law(law):
    step = 1e-5
    for ratio in np.linspace(0.05, 0.95, 19):
        before, here, after = law(ratio - step), law(ratio), law(ratio + step)
        assert (after[0] - before[0]) / (2 * step) == pytest.approx(here[1], abs=1e-8)
        assert (after[1] - before[1]) / (2 * step) == pytest.approx(here[2], abs=1e-7)


def test_minimum_jerk_has_no_acceleration_at_its_ends():
    assert abs(minimum_jerk(1e-9)[2]) < 1e-6
    assert abs(minimum_jerk(1.0 - 1e-9)[2]) < 1e-6
