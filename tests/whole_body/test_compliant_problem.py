"""TSID-Compliant leads the angular momentum to that of the legs and of an upper body that returns."""

from dataclasses import replace

import numpy as np

from gradiva.common import so3
from gradiva.robot_model import as_array
from tests.whole_body.standing_robot import (
    PERIOD,
    accelerations,
    changed_compliant_controller,
    computations,
    start_posture,
    sunk_state,
    walking_config,
)
from tests.whole_body.test_compliant_torque_controller import moment_rate, sinkage, sunk_reference


def test_on_soft_ground_the_legs_keep_their_fraction_of_the_planned_angular_momentum_but_about_the_vertical():
    shipped = walking_config().compliant_torque_control.angular_momentum
    heavy = replace(shipped, weight=1e5, vertical_weight=1e5, legs_fraction=0.5)
    controller, before = changed_compliant_controller(angular_momentum=heavy), sunk_state(sinkage())
    momentum, rate = np.array([0.2, -0.4, 0.3]), np.array([-1.0, 3.0, 2.0])
    controller.command(before, sunk_reference(angular_momentum=momentum, angular_momentum_rate=rate), PERIOD)
    wanted = 0.5 * (heavy.damping * rate + heavy.stiffness * momentum) * [1.0, 1.0, 0.0]
    reached = moment_rate(before, accelerations(controller, before))
    np.testing.assert_allclose(reached, wanted, atol=0.05 * np.linalg.norm(wanted))


def test_on_soft_ground_a_pelvis_that_is_tilted_is_allowed_the_momentum_to_come_upright():
    shipped = walking_config().compliant_torque_control.angular_momentum
    heavy = replace(shipped, weight=1e5, vertical_weight=1e5)
    controller, before = changed_compliant_controller(angular_momentum=heavy), sunk_state(sinkage())
    tilt = np.array([0.1, -0.05, 0.0])
    wanted_rotation = so3.exp(tilt) @ before.base_rotation
    controller.command(before, sunk_reference(pelvis_rotation=wanted_rotation), PERIOD)
    body = computations(start_posture(), np.array([0.0, 0.0, 0.0, *(shipped.pelvis_recovery * tilt)]), np.zeros(23))
    wanted = heavy.stiffness * as_array(body.getCentroidalTotalMomentum())[3:]
    reached = moment_rate(before, accelerations(controller, before))
    np.testing.assert_allclose(reached, wanted, atol=0.05 * np.linalg.norm(wanted))
