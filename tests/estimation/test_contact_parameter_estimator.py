import dataclasses

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.contacts import ViscoElasticParameters
from gradiva.estimation import ContactParameterEstimator, ContactParameterEstimatorConfig

CONFIG = ContactParameterEstimatorConfig(3e5, 1e4, 0.0, 5.0, 0.25, 10.0, 0.005, 30.0, 0.005, 5e4, 100.0)
PRIOR = ViscoElasticParameters(1e6, 1e4)
OF_STIFFNESS = (1e-5, -2e-5, 2e-4, 6e-6, -5e-6, 1e-6)
OF_DAMPING = (1e-4, 0.0, -5e-4, -2e-5, 2e-5, 0.0)
FAST = 0.05


def wrench(stiffness, damping):
    return [stiffness * s + damping * d for s, d in zip(OF_STIFFNESS, OF_DAMPING, strict=True)]


def test_one_update_is_the_textbooks():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    measured = np.array(wrench(1.3e6, 8e3)) + np.array([1, -2, 3, 0.1, -0.2, 0.05])
    covariance, noise = np.diag([3e5**2, 1e4**2]), np.diag([25.0, 0.0625, 0.0625])
    regressor = np.column_stack([OF_STIFFNESS, OF_DAMPING])[2:5]
    gain = covariance @ regressor.T @ np.linalg.inv(noise + regressor @ covariance @ regressor.T)
    expected = np.array(PRIOR) + gain @ (measured[2:5] - regressor @ PRIOR)
    left = np.eye(2) - gain @ regressor
    posterior = left @ covariance @ left.T + gain @ noise @ gain.T
    parameters = estimator.update(measured.tolist(), (OF_STIFFNESS, OF_DAMPING), FAST, 1e-3)
    np.testing.assert_allclose(parameters, expected, rtol=1e-9)
    np.testing.assert_allclose(estimator.deviations, np.sqrt(np.diag(posterior)), rtol=1e-9)


def test_exact_wrenches_of_the_prior_change_nothing():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    parameters = estimator.update(wrench(*PRIOR), (OF_STIFFNESS, OF_DAMPING), FAST, 1e-3)
    np.testing.assert_allclose(parameters, PRIOR, rtol=1e-12)


def test_an_unloaded_foot_teaches_nothing():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    before = estimator.deviations
    assert estimator.update([0, 0, 29.9, 9, 9, 9], (OF_STIFFNESS, OF_DAMPING), FAST, 1e-3) == PRIOR
    assert estimator.deviations == before


def test_damping_is_not_learned_from_a_foot_that_is_still():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    for _ in range(100):
        parameters = estimator.update(wrench(1.5e6, 3e4), (OF_STIFFNESS, OF_DAMPING), 0.004, 1e-3)
    assert parameters.damping == PRIOR.damping
    assert parameters.stiffness != PRIOR.stiffness
    assert estimator.deviations[1] == 1e4


def test_both_stay_above_their_floors():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    for _ in range(100):
        parameters = estimator.update(wrench(4e5, -1e4), (OF_STIFFNESS, OF_DAMPING), FAST, 1e-3)
    assert parameters.damping == 100.0
    deep = (0.0, 0.0, 2e-3, 0.0, 0.0, 0.0)
    for _ in range(100):
        parameters = estimator.update([0, 0, 40.0, 0, 0, 0], (deep, (0.0,) * 6), 0.0, 1e-3)
    assert parameters.stiffness == 5e4


def test_a_surprise_is_left_out_until_it_lasts():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    rows = OF_STIFFNESS, OF_DAMPING
    for _ in range(200):
        estimator.update(wrench(*PRIOR), rows, FAST, 1e-3)
    changed = wrench(3e6, 1e4)
    stiffnesses = [estimator.update(changed, rows, FAST, 1e-3).stiffness for _ in range(30)]
    np.testing.assert_allclose(stiffnesses[:5], 1e6)
    assert stiffnesses[-1] == pytest.approx(3e6, rel=0.02)


def test_one_surprise_among_others_resets_nothing():
    estimator = ContactParameterEstimator(CONFIG, PRIOR)
    rows = OF_STIFFNESS, OF_DAMPING
    for tick in range(400):
        truth = (3e6, 1e4) if tick > 200 and tick % 2 else PRIOR
        parameters = estimator.update(wrench(*truth), rows, FAST, 1e-3)
    np.testing.assert_allclose(parameters, PRIOR, rtol=1e-6)


def test_the_drift_never_makes_damping_more_uncertain_than_a_touch_down():
    estimator = ContactParameterEstimator(dataclasses.replace(CONFIG, damping_drift=1e9), PRIOR)
    estimator.update([0, 0, 40.0, 0, 0, 0], ((0.0, 0.0, 4e-5, 0.0, 0.0, 0.0), (0.0,) * 6), FAST, 1.0)
    assert estimator.deviations[1] == 1e4


@pytest.mark.parametrize(
    ("name", "value"), [("stiffness_deviation", 0.0), ("minimum_load", 0.0), ("still_speed", -1.0)]
)
def test_numbers_that_cannot_work_are_refused(name, value):
    with pytest.raises(ConfigError, match=f"{name}={value}"):
        dataclasses.replace(CONFIG, **{name: value})
