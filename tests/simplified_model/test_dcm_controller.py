import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError, DcmReference
from gradiva.contacts import SupportPolygon
from gradiva.simplified_model import BalancePlan, DcmController, DcmControllerConfig, LinearInvertedPendulum

CONFIG = DcmControllerConfig(proportional_gain=2.0, integral_gain=0.0, integral_limit=0.02, polygon_margin=0.005)
PENDULUM = LinearInvertedPendulum(0.53)
SIGMA = PENDULUM.natural_frequency
WIDE = SupportPolygon([(-10, -10), (10, -10), (10, 10), (-10, 10)])
FEET = SupportPolygon([(-0.05, -0.12), (0.1, -0.12), (0.1, 0.12), (-0.05, 0.12)])
DT = 0.01


class InstantaneousLaw(DcmController):
    """The law on a DCM, its reference and a polygon."""

    def zmp(self, dcm_position, reference, polygon, dt):
        state, here = SimpleNamespace(dcm_position=dcm_position), SimpleNamespace(dcm=reference)
        return super().zmp(state, BalancePlan(here, polygon, None, np.zeros(2)), dt)


def reference(position=(0.0, 0.0), velocity=(0.0, 0.0)) -> DcmReference:
    return DcmReference(np.array(position), np.array(velocity), SIGMA, SIGMA, np.zeros(2))


def integrating(gain: float = 0.2, limit: float = 0.02) -> InstantaneousLaw:
    return InstantaneousLaw(dataclasses.replace(CONFIG, integral_gain=gain, integral_limit=limit))


def test_without_error_the_zmp_is_the_one_of_the_reference():
    wanted = reference((0.03, 0.02), (0.2, -0.1))
    zmp = InstantaneousLaw(CONFIG).zmp(wanted.position, wanted, FEET, DT)
    np.testing.assert_allclose(zmp, [0.03 - 0.2 / SIGMA, 0.02 + 0.1 / SIGMA], atol=1e-15)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_dcm_that_leads_is_pushed_back_by_a_zmp_that_leads_more(axis, sign):
    error = np.zeros(2)
    error[axis] = sign * 0.01
    np.testing.assert_allclose(InstantaneousLaw(CONFIG).zmp(error, reference(), FEET, DT), 2.0 * error)


def test_the_error_decays_at_sigma_times_gain_less_one():
    controller, dcm, dt = InstantaneousLaw(CONFIG), np.array([0.01, -0.02]), 1e-4
    for _ in range(5000):
        dcm = PENDULUM.propagate_dcm(dcm, controller.zmp(dcm, reference(), WIDE, dt), dt)
    np.testing.assert_allclose(dcm, np.array([0.01, -0.02]) * math.exp(-SIGMA * 0.5), rtol=2e-3)


def test_the_integral_removes_what_a_constant_disturbance_leaves():
    bias = np.array([0.004, -0.003])  # m, of the executed ZMP
    remaining = {}
    for gain in (0.0, 1.0):
        controller, dcm = integrating(gain), np.zeros(2)
        for _ in range(3000):
            zmp = controller.zmp(dcm, reference(), WIDE, DT) + bias
            dcm = PENDULUM.propagate_dcm(dcm, zmp, DT)
        remaining[gain] = np.linalg.norm(dcm)
    assert remaining[0.0] == pytest.approx(0.005, rel=0.05)
    assert remaining[1.0] < 1e-5


def test_the_integral_is_bounded():
    controller = integrating(gain=1.0, limit=0.003)
    for _ in range(1000):
        zmp = controller.zmp(np.array([0.003, 0.004]), reference(), WIDE, DT)
    np.testing.assert_allclose(zmp, [2 * 0.003 + 0.6 * 0.003, 2 * 0.004 + 0.8 * 0.003])


def test_the_integral_does_not_grow_while_the_zmp_is_at_the_edge():
    controller, fresh = integrating(), integrating()
    for _ in range(200):
        controller.zmp(np.array([0.2, 0.0]), reference(), FEET, DT)
    np.testing.assert_array_equal(
        controller.zmp(np.array([0.01, 0.0]), reference(), FEET, DT),
        fresh.zmp(np.array([0.01, 0.0]), reference(), FEET, DT),
    )


def test_the_integral_shrinks_at_the_edge_when_the_error_turns():
    controller = integrating(gain=1.0)
    for _ in range(100):
        controller.zmp(np.array([0.02, 0.0]), reference(), WIDE, DT)
    narrow = SupportPolygon([(-0.02, -0.02), (0.0, -0.02), (0.0, 0.02), (-0.02, 0.02)])
    for _ in range(100):
        controller.zmp(np.array([-0.02, 0.0]), reference(), narrow, DT)
    np.testing.assert_allclose(controller.zmp(np.zeros(2), reference(), WIDE, DT), 0.0, atol=1e-12)


def test_reset_forgets_the_integral():
    controller = integrating()
    controller.zmp(np.array([0.03, 0.0]), reference(), WIDE, 1.0)
    controller.reset()
    np.testing.assert_array_equal(controller.zmp(np.zeros(2), reference(), WIDE, DT), 0.0)


@pytest.mark.parametrize(
    ("dcm", "zmp"),
    [
        ((0.2, 0.01), (0.095, 0.02)),
        ((-0.2, 0.0), (-0.045, 0.0)),
        ((0.0, 0.3), (0.0, 0.115)),
        ((9, -9), (0.095, -0.115)),
    ],
)
def test_saturation_is_exactly_on_the_edge_of_the_shrunk_polygon(dcm, zmp):
    actual = InstantaneousLaw(CONFIG).zmp(np.array(dcm), reference(), FEET, DT)
    np.testing.assert_allclose(actual, zmp, atol=1e-15)


def test_a_new_polygon_is_noticed():
    controller, far = InstantaneousLaw(CONFIG), np.array([0.5, 0.0])
    assert controller.zmp(far, reference(), FEET, DT)[0] == pytest.approx(0.095)
    assert controller.zmp(far, reference(), WIDE, DT)[0] == pytest.approx(1.0)


def test_moving_and_turning_the_world_moves_and_turns_the_zmp():
    shift, angle = np.array([40.0, -25.0]), 2.0
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    here, there = integrating(), integrating()
    moved_feet = SupportPolygon(FEET.vertices @ turn.T + shift)
    for dcm in np.random.default_rng(3).normal(scale=0.05, size=(50, 2)):
        expected = here.zmp(dcm, reference((0.01, 0.02), (0.1, 0.2)), FEET, DT)
        moved = reference(turn @ [0.01, 0.02] + shift, turn @ [0.1, 0.2])
        actual = there.zmp(turn @ dcm + shift, moved, moved_feet, DT)
        np.testing.assert_allclose(actual, turn @ expected + shift, atol=1e-12)


def test_left_mirrors_right():
    mirror = np.array([1.0, -1.0])
    left = InstantaneousLaw(CONFIG).zmp(np.array([0.02, 0.05]), reference((0, 0.03), (0.1, 0.1)), FEET, DT)
    right = InstantaneousLaw(CONFIG).zmp(np.array([0.02, -0.05]), reference((0, -0.03), (0.1, -0.1)), FEET, DT)
    np.testing.assert_allclose(left * mirror, right, atol=1e-15)


def test_a_dcm_that_is_not_finite_is_refused_and_leaves_no_trace():
    controller, here = integrating(), np.array([0.01, 0.0])
    expected = integrating().zmp(here, reference(), FEET, DT)
    with pytest.raises(ValueError, match="not finite"):
        controller.zmp(np.array([math.nan, 0.0]), reference(), FEET, DT)
    np.testing.assert_array_equal(controller.zmp(here, reference(), FEET, DT), expected)


def test_a_margin_that_leaves_nothing_of_the_polygon_is_refused_by_name():
    controller = InstantaneousLaw(dataclasses.replace(CONFIG, polygon_margin=0.08))
    with pytest.raises(ConfigError, match=r"\[dcm_controller\] polygon_margin=0.08 m: nothing is left"):
        controller.zmp(np.zeros(2), reference(), FEET, DT)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("proportional_gain", 1.0),
        ("proportional_gain", math.inf),
        ("integral_gain", -0.1),
        ("integral_limit", -1.0),
        ("polygon_margin", -0.001),
        ("polygon_margin", math.nan),
    ],
)
def test_gains_that_do_not_stabilise_are_refused_by_name(field, value):
    with pytest.raises(ConfigError, match=field):
        dataclasses.replace(CONFIG, **{field: value})


class NumpyLaw:
    """The instantaneous law as its equation says it, in numpy: the oracle of the compiled one."""

    def __init__(self, config):
        self.config, self.integral = config, np.zeros(2)

    def zmp(self, dcm_position, reference, polygon, dt):
        config, inner = self.config, polygon.shrunk(self.config.polygon_margin)
        error = dcm_position - reference.position

        def unbounded(integral):
            return reference.zmp_position + config.proportional_gain * error + config.integral_gain * integral

        integral = self.integral + error * dt
        integral *= min(1.0, config.integral_limit / max(np.linalg.norm(integral), 1e-300))
        grows = np.linalg.norm(integral) > np.linalg.norm(self.integral)
        if not (grows and not inner.contains(unbounded(integral))):
            self.integral = integral
        return inner.project(unbounded(self.integral))


@pytest.mark.parametrize("spread", [0.02, 0.1])
def test_the_compiled_law_is_the_equation_in_numpy(spread):
    config = dataclasses.replace(CONFIG, integral_gain=0.7, integral_limit=0.003)
    law, oracle, random = InstantaneousLaw(config), NumpyLaw(config), np.random.default_rng(3)
    for tick in range(400):
        if tick % 20 == 0:
            polygon = SupportPolygon(random.uniform(-0.15, 0.15, size=(4 + tick // 20 % 5, 2)))
        dcm = spread * random.normal(size=2)
        there = reference(0.3 * spread * random.normal(size=2), random.normal(size=2))
        try:
            expected = oracle.zmp(dcm, there, polygon, DT)
        except ValueError:  # nothing is left of the polygon
            continue
        np.testing.assert_allclose(law.zmp(dcm, there, polygon, DT), expected, atol=1e-14)
    np.testing.assert_allclose(law.memory.dcm_integral, oracle.integral, atol=1e-15)
