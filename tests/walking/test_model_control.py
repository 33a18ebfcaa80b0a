from types import SimpleNamespace

import numpy as np
import pytest
from gradiva.simplified_model.model_control import InstantaneousLaw, ModelControl, PredictiveLaw

from gradiva.common import DcmPreview, DcmReference, NoSolutionFound
from gradiva.contacts import SupportPolygon
from gradiva.simplified_model import (
    DcmController,
    DcmControllerConfig,
    GainSchedule,
    GainScheduleConfig,
    ZmpComController,
    ZmpComGains,
)

SQUARE = SupportPolygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
WALKING, STANDING = ZmpComGains(4.0, 3.0), ZmpComGains(1.0, 5.0)
PERIOD = 0.01


def reference(dcm=(0.0, 0.0), dcm_velocity=(0.0, 0.0), is_walking=True, height=0.5):
    return SimpleNamespace(
        dcm=DcmReference(np.array(dcm), np.array(dcm_velocity), 4.3, 4.3, np.zeros(2)),
        com_position=np.array([0.0, 0.0, height]),
        com_velocity=np.array([0.1, 0.0, 0.02]),
        is_walking=is_walking,
    )


def state(dcm=(0.0, 0.0), com=(0.0, 0.0, 0.5), zmp=(0.0, 0.0)):
    return SimpleNamespace(dcm_position=np.array(dcm), com_position=np.array(com), zmp_position=np.array(zmp))


def instantaneous():
    return InstantaneousLaw(DcmController(DcmControllerConfig(1.5, 0.0, 0.02, 0.0)))


def control(law=None):
    return ModelControl(
        law or instantaneous(), ZmpComController(), GainSchedule(GainScheduleConfig(0.0), WALKING, STANDING)
    )


def update(model_control, robot=None, plan=None, shift=(0.0, 0.0), preview=None):
    robot = robot or state()
    shift = np.array(shift)
    return model_control.update(robot, plan or reference(), SQUARE, preview, PERIOD, shift, robot.zmp_position)


def test_a_zmp_that_nobody_knows_is_taken_to_be_where_it_should_be():
    off = state(dcm=(0.01, 0.0), zmp=(0.2, 0.1))
    plan = reference()
    desired = control().update(off, plan, SQUARE, None, PERIOD, np.zeros(2), None)
    np.testing.assert_allclose(desired.com_velocity, plan.com_velocity)
    known = control().update(off, plan, SQUARE, None, PERIOD, np.zeros(2), off.zmp_position)
    assert known.com_velocity[1] == pytest.approx(plan.com_velocity[1] + 4.0 * 0.1)


def test_without_errors_the_plan_passes_through():
    desired = update(control())
    np.testing.assert_allclose(desired.com_velocity, [0.1, 0.0, 0.02])
    np.testing.assert_allclose(desired.com_position, [0.001, 0.0, 0.5002])
    np.testing.assert_allclose(desired.zmp_position, [0.0, 0.0])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_dcm_ahead_sends_the_zmp_ahead_and_the_com_back(axis):
    ahead = np.zeros(2)
    ahead[axis] = 0.01
    desired = update(control(), state(dcm=ahead))
    assert desired.zmp_position[axis] == pytest.approx(0.015)
    assert (desired.com_velocity[:2] - [0.1, 0.0])[axis] == pytest.approx(-4.0 * 0.015)


def test_a_com_behind_is_pulled_on():
    desired = update(control(), state(com=(-0.01, 0.0, 0.5)))
    assert desired.com_velocity[0] == pytest.approx(0.1 + 3.0 * 0.01)


def test_the_commanded_com_integrates_the_velocity():
    model_control = control()
    for _ in range(10):
        desired = update(model_control)
    assert desired.com_position[0] == pytest.approx(0.01)
    model_control.reset()
    assert update(model_control).com_position[0] == pytest.approx(0.001)


def test_the_shift_of_the_swinging_leg_is_expected_of_the_measured_zmp():
    desired = update(control(), state(zmp=(0.02, 0.0)), shift=(0.02, 0.0))
    np.testing.assert_allclose(desired.com_velocity[:2], [0.1, 0.0])
    np.testing.assert_allclose(desired.zmp_position, [0.0, 0.0])


def test_standing_has_its_own_gains():
    desired = update(control(), state(com=(-0.01, 0.0, 0.5)), reference(is_walking=False))
    assert desired.com_velocity[0] == pytest.approx(0.1 + 5.0 * 0.01)


class BrokenMpc:
    config = SimpleNamespace(period=0.02, samples=2)

    def zmp(self, dcm_position, preview, dt):
        raise NoSolutionFound("DCM MPC", "test")

    def reset(self):
        pass


def test_where_the_mpc_has_no_solution_the_instantaneous_law_answers_and_it_is_counted():
    def preview(period, count):
        flags, poses = np.ones(count, bool), np.zeros((count, 3))
        zeros = np.zeros((count, 2))
        return DcmPreview(period, np.zeros((count + 1, 2)), zeros, np.full(count, 4.3), flags, flags, poses, poses)

    model_control = control(PredictiveLaw(BrokenMpc(), instantaneous()))
    desired = update(model_control, state(dcm=(0.01, 0.0)), preview=preview)
    assert desired.zmp_position[0] == pytest.approx(0.015)
    assert model_control.failures == 1
