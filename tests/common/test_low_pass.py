import numpy as np
import pytest

from gradiva.common import LowPass, low_pass_share


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
    assert low_pass_share(0.1, 0.1 * np.log(2.0)) == pytest.approx(0.5)
    assert low_pass_share(0.0, 0.001) == 1.0
