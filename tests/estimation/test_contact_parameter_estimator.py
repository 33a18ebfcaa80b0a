import dataclasses

import numpy as np
import pytest

from gradiva.contacts import ViscoElasticParameters
from gradiva.estimation import ContactParameterEstimator
from gradiva.estimation.contact_estimator import ContactLearning

CONFIG = ContactLearning(3e5, 1e4, 0.0, 5.0, 10.0, 0.005, 30.0, 0.005, 5e4, 100.0)
PRIOR = ViscoElasticParameters(1e6, 1e4)
OF_STIFFNESS, OF_DAMPING = 2e-4, -5e-4
FAST = -0.05


@pytest.fixture
def estimator():
    return ContactParameterEstimator(CONFIG, PRIOR)


def feel(estimator, stiffness, damping, ticks=1, sway=0.0):
    """The parameters after each tick on such ground; the damper's share sways by a ratio."""
    parameters = []
    for tick in range(ticks):
        of_damping = OF_DAMPING * (1.0 + sway * np.sin(0.1 * tick))
        force = OF_STIFFNESS * stiffness + of_damping * damping
        parameters.append(estimator.update(force, OF_STIFFNESS, of_damping, FAST, 1e-3))
    return np.array(parameters)


def test_one_update_is_the_textbooks(estimator):
    force, regressor = 260.0, np.array([[OF_STIFFNESS, OF_DAMPING]])
    covariance, noise = np.diag([3e5**2, 1e4**2]), np.array([[25.0]])
    gain = covariance @ regressor.T @ np.linalg.inv(noise + regressor @ covariance @ regressor.T)
    expected = np.array(PRIOR) + gain @ (force - regressor @ PRIOR)
    left = np.eye(2) - gain @ regressor
    posterior = left @ covariance @ left.T + gain @ noise @ gain.T
    parameters = estimator.update(force, OF_STIFFNESS, OF_DAMPING, FAST, 1e-3)
    np.testing.assert_allclose(parameters, expected, rtol=1e-9)
    np.testing.assert_allclose(estimator.deviations, np.sqrt(np.diag(posterior)), rtol=1e-9)


def test_exact_forces_of_the_prior_change_nothing(estimator):
    np.testing.assert_allclose(feel(estimator, *PRIOR)[-1], PRIOR, rtol=1e-12)


def test_both_are_found_when_the_motion_varies(estimator):
    np.testing.assert_allclose(feel(estimator, 1.3e6, 5e3, 400, sway=1.0)[-1], [1.3e6, 5e3], rtol=0.01)


def test_a_touch_down_makes_both_uncertain_again_and_keeps_them(estimator):
    learned = feel(estimator, 1.3e6, 5e3, 400, sway=1.0)[-1]
    assert estimator.deviations[0] < 0.05 * 3e5
    estimator.reset_covariance()
    assert estimator.deviations == (3e5, 1e4)
    np.testing.assert_array_equal(estimator.parameters, learned)


def test_an_unloaded_foot_teaches_nothing(estimator):
    before = estimator.deviations
    assert estimator.update(29.9, OF_STIFFNESS, OF_DAMPING, FAST, 1e-3) == PRIOR
    assert estimator.deviations == before


def test_damping_is_not_learned_from_a_foot_that_is_still(estimator):
    for _ in range(100):
        parameters = estimator.update(250.0, OF_STIFFNESS, OF_DAMPING, 0.004, 1e-3)
    assert parameters.damping == PRIOR.damping
    assert parameters.stiffness == pytest.approx((250.0 - OF_DAMPING * 1e4) / OF_STIFFNESS, rel=1e-3)
    assert estimator.deviations[1] == 1e4


def test_both_stay_above_their_floors(estimator):
    assert feel(estimator, 8e5, -2e4, 400, sway=1.0)[-1, 1] == 100.0
    for _ in range(100):
        parameters = estimator.update(40.0, 2e-3, 0.0, 0.0, 1e-3)
    assert parameters.stiffness == 5e4


def test_a_surprise_is_left_out_until_it_lasts(estimator):
    feel(estimator, *PRIOR, 200)
    stiffnesses = feel(estimator, 3e6, 1e4, 200, sway=1.0)[:, 0]
    np.testing.assert_allclose(stiffnesses[:5], 1e6)
    assert stiffnesses[-1] == pytest.approx(3e6, rel=0.02)


def test_surprises_among_others_reset_nothing(estimator):
    feel(estimator, *PRIOR, 200)
    for tick in range(200):
        parameters = feel(estimator, *((3e6, 1e4) if tick % 2 else PRIOR))
    np.testing.assert_allclose(parameters[-1], PRIOR, rtol=1e-6)


def test_the_drift_never_makes_damping_more_uncertain_than_a_touch_down():
    estimator = ContactParameterEstimator(dataclasses.replace(CONFIG, damping_drift=1e9), PRIOR)
    estimator.update(40.0, 4e-5, 0.0, FAST, 1.0)
    assert estimator.deviations[1] == 1e4
