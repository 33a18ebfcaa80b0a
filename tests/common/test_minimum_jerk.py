import numpy as np
import pytest

from gradiva.common import minimum_acceleration, minimum_jerk


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
