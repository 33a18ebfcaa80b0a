"""Inverse kinematics and inverse dynamics of one's own tasks and contacts, without a walk."""

from dataclasses import replace
from functools import lru_cache

import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, ModelError, NoSolutionFound, so3
from gradiva.robot_model import as_array
from gradiva.whole_body import (
    ComTask,
    Contact,
    FrameTask,
    InverseDynamics,
    InverseKinematics,
    OrientationTask,
    PositionTask,
    PostureTask,
    Task,
    described_posture,
    integrate,
    soles_of,
)
from tests.conftest import model_of
from tests.whole_body.standing_robot import computations

ROBOT, PERIOD = "icub_v2_7", 0.01
HAND = "l_hand"


@lru_cache
def posture():
    return described_posture(model_of(ROBOT))


def kinematics(*tasks, **options):
    return InverseKinematics(model_of(ROBOT), tasks, **options)


def test_tasks_without_targets_hold_the_first_posture():
    velocity = kinematics(FrameTask(HAND), ComTask(), PostureTask()).solve(posture(), PERIOD)
    np.testing.assert_allclose(velocity, np.zeros(6 + len(posture().joint_positions)), atol=1e-9)


def test_the_velocity_of_a_hard_task_is_the_law():
    hand = PositionTask(HAND, gain=4.0, priority="hard")
    rest = kinematics(hand, PostureTask())
    rest.solve(posture(), PERIOD)
    hand.set_target(hand.target["position"] + [0.01, 0.0, -0.02], twist=[0.0, 0.03, 0.0, 0.0, 0.0, 0.0])
    velocity = model_of(ROBOT).frame_jacobian(posture(), HAND) @ rest.solve(posture(), PERIOD)
    np.testing.assert_allclose(velocity[:3], [0.04, 0.03, -0.08], atol=1e-9)


def test_an_orientation_turns_about_the_axis_of_its_error():
    head = OrientationTask(HAND, gain=2.0, priority="hard")
    alone = kinematics(head, PostureTask())
    alone.solve(posture(), PERIOD)
    head.set_target(rotation=so3.exp(np.array([0.0, 0.0, 0.1])) @ head.target["rotation"])
    turned = model_of(ROBOT).frame_jacobian(posture(), HAND)[3:] @ alone.solve(posture(), PERIOD)
    np.testing.assert_allclose(turned, [0.0, 0.0, 0.2], atol=1e-9)


@pytest.mark.parametrize("rotation", [2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0])])
def test_a_target_that_is_no_rotation_is_refused_and_the_last_one_kept(rotation):
    task = FrameTask(HAND)
    task.set_target(rotation=np.eye(3))
    with pytest.raises(ConfigError, match="rotation: is none"):
        task.set_target(rotation=rotation)
    np.testing.assert_array_equal(task.target["rotation"], np.eye(3))


@pytest.mark.parametrize("tasks", [PostureTask(), None, ["posture"]])
def test_tasks_that_are_no_list_of_tasks_are_refused(tasks):
    with pytest.raises(ConfigError, match="expected a list of tasks"):
        InverseKinematics(model_of(ROBOT), tasks)


def test_steps_of_the_velocity_reach_targets_and_keep_hard_feet():
    description, now = model_of(ROBOT).description, posture()
    feet = [FrameTask(sole, priority="hard") for sole in (description.left_foot_frame, description.right_foot_frame)]
    com, hand = ComTask(), PositionTask(HAND)
    whole = kinematics(*feet, com, hand, PostureTask(weight=1e-4))
    shift = np.array([0.01, 0.02, -0.01])
    wanted = model_of(ROBOT).com_position(now) + shift, model_of(ROBOT).frame_pose(now, HAND)[0] + 0.03
    com.set_target(wanted[0])
    hand.set_target(wanted[1])
    for _ in range(150):
        now = integrate(now, whole.solve(now, PERIOD), PERIOD)
    np.testing.assert_allclose(model_of(ROBOT).com_position(now), wanted[0], atol=1e-3)
    np.testing.assert_allclose(model_of(ROBOT).frame_pose(now, HAND)[0], wanted[1], atol=1e-3)
    for foot in feet:
        np.testing.assert_allclose(model_of(ROBOT).frame_pose(now, foot.frame)[0], foot.target["position"], atol=1e-6)


def test_joints_stay_within_their_limits_and_return_at_most_as_fast_as_they_can():
    model, beyond = model_of(ROBOT), posture().joint_positions.copy()
    lower, _ = model.joint_limits()
    beyond[0] = lower[0] - 0.5
    velocity = kinematics(PostureTask()).solve(replace(posture(), joint_positions=beyond), PERIOD)
    assert velocity[6] == pytest.approx(model.velocity_limits()[0])
    far = PostureTask(gain=50.0)
    far.set_target(lower - 10.0)
    now, limited = posture(), kinematics(far, position_margin=0.01)
    for _ in range(200):
        now = integrate(now, limited.solve(now, PERIOD), PERIOD)
    np.testing.assert_allclose(now.joint_positions, lower + 0.01, atol=1e-6)


def test_tasks_that_contradict_each_other_are_named_and_relaxed_on_request():
    one, other = PositionTask(HAND, priority="hard"), PositionTask(HAND, priority="hard", name="again")
    both = kinematics(one, other, PostureTask())
    both.solve(posture(), PERIOD)
    other.set_target(other.target["position"] + [0.1, 0.0, 0.0])
    with pytest.raises(NoSolutionFound, match=r"hardest to meet is '(l_hand|again)'"):
        both.solve(posture(), PERIOD)
    between = model_of(ROBOT).frame_jacobian(posture(), HAND) @ both.solve(posture(), PERIOD, relaxed=True)
    assert between[0] == pytest.approx(0.5, abs=0.01), "half of gain 10 times 0.1 m"


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: kinematics(FrameTask("l_hnd")), ModelError, "no frame 'l_hnd'; did you mean 'l_hand'"),
        (lambda: kinematics(ComTask(), ComTask()), ConfigError, "two tasks of the whole body are called"),
        (lambda: FrameTask(HAND, priority="harrd"), ConfigError, "unknown priority 'harrd'; did you mean 'hard'"),
        (lambda: FrameTask(HAND, gain=-1.0), ConfigError, "^task 'l_hand': gain=-1.0, must not be negative"),
        (lambda: PositionTask(HAND, gain=-1), ConfigError, "^task 'l_hand': gain=-1.0, must not be negative"),
        (lambda: ComTask(gain=np.nan), ConfigError, "^task 'centre of mass': gain=nan, must not be negative or NaN"),
        (lambda: PostureTask(gain=[1.0, 2.0]), ConfigError, "^task 'posture': float"),
        (
            lambda: ComTask().set_target([np.nan, 0.0, 0.0]),
            ConfigError,
            "^task 'centre of mass': position: must be fin",
        ),
        (lambda: kinematics(), ConfigError, "inverse kinematics has no task"),
        (
            lambda: kinematics(ComTask()).solve(np.zeros(23), PERIOD),
            ConfigError,
            "expected a RobotPosture.*got a ndarray",
        ),
        (lambda: FrameTask(HAND).set_target([0.0, 1.0]), ConfigError, r"'l_hand': position: expected .* \(3,\)"),
        (lambda: kinematics(ComTask()).solve(posture(), 0.0), ConfigError, "dt=0.0 s, must be positive"),
        (lambda: kinematics(ComTask()).solve(short_posture(), PERIOD), ModelError, "joints, the posture has 3"),
        (lambda: kinematics(ComTask()).solve(broken_posture(), PERIOD), ModelError, "the posture is not finite"),
        (lambda: model_of(ROBOT).frame_pose(short_posture(), HAND), ModelError, "joints, the posture has 3"),
        (lambda: model_of(ROBOT).frame_jacobian(posture(), "hand"), ModelError, "no frame 'hand'"),
        (lambda: kinematics(Stateless("mine", ComTask().config)), ConfigError, "'mine' states no velocity"),
        (lambda: Contact("foot", "l_sole", (0.1, -0.1), (0.0, 0.1)), ConfigError, "contact 'foot': x=.*lower bound"),
        (lambda: dynamics(contacts=[*soles(), *soles()]), ConfigError, "two contacts are called 'left'"),
        (lambda: dynamics().wrench("lfet"), ConfigError, "no contact 'lfet'; did you mean 'left'"),
        (lambda: dynamics().solve(posture(), np.zeros(5)), ModelError, r"the velocity has shape \(5,\)"),
    ],
)
def test_wrong_input_is_named(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_a_posture_target_of_another_robot_is_refused():
    task = PostureTask()
    task.set_target(np.zeros(3))
    with pytest.raises(ConfigError, match=r"'posture.positions' has shape \(3,\)"):
        kinematics(task).solve(posture(), PERIOD)


class Stateless(Task):
    """States nothing."""


def short_posture():
    return replace(posture(), joint_positions=np.zeros(3))


def broken_posture():
    return replace(posture(), base_position=[0.0, np.nan, 0.0])


# -- torques -----------------------------------------------------------------------------------------------------------


def soles():
    return soles_of(model_of(ROBOT).description)


def dynamics(*tasks, contacts=None):
    whole = tasks or (ComTask(), OrientationTask("root_link"), PostureTask())
    return InverseDynamics(model_of(ROBOT), whole, soles() if contacts is None else contacts)


def rest():
    return np.zeros(6 + len(posture().joint_positions))


def test_at_rest_two_soles_carry_the_weight_and_the_torques_obey_the_dynamics():
    standing = dynamics()
    torques = standing.solve(posture(), rest())
    wrenches = {name: standing.wrench(name) for name in ("left", "right")}
    rise = (model_of(ROBOT).com_jacobian(posture()) @ standing.acceleration)[2]
    weight = model_of(ROBOT).mass * (GRAVITY + rise)
    assert sum(wrench[2] for wrench in wrenches.values()) == pytest.approx(weight, rel=1e-6)
    np.testing.assert_allclose(standing.acceleration, rest(), atol=1e-2)  # low torques cost some rest
    np.testing.assert_allclose(residual(standing, torques, wrenches), rest(), atol=1e-6)


def residual(whole, torques, wrenches):
    """Return M ν̇ + h - [0; τ] - Σ Jᵀ f, by iDynTree."""
    model = model_of(ROBOT)
    body, frames = computations(posture(), np.zeros(6), np.zeros(len(rest()) - 6)), {s.name: s.frame for s in soles()}
    size = len(rest())
    mass, bias = idyn.MatrixDynSize(size, size), idyn.FreeFloatingGeneralizedTorques(body.model())
    body.getFreeFloatingMassMatrix(mass)
    body.generalizedBiasForces(bias)
    inertia = as_array(mass)
    inertia[6:, 6:] += model.rotor_inertia
    forces = np.concatenate([as_array(bias.baseWrench()), as_array(bias.jointTorques())])
    left = inertia @ whole.acceleration + forces - np.concatenate([np.zeros(6), torques])
    return left - sum(model.frame_jacobian(posture(), frames[name]).T @ wrench for name, wrench in wrenches.items())


def test_the_centre_of_mass_is_accelerated_to_its_target_and_the_soles_stay():
    com = ComTask(gain=5.0, priority="hard")
    swaying = dynamics(com, OrientationTask("root_link"), PostureTask())
    swaying.solve(posture(), rest())
    com.set_target(com.target["position"] + [0.0, 0.01, 0.0])
    swaying.solve(posture(), rest())
    jacobian = model_of(ROBOT).com_jacobian(posture())
    np.testing.assert_allclose(jacobian @ swaying.acceleration, [0.0, 0.25, 0.0], atol=1e-6)
    for contact in soles():
        feet = model_of(ROBOT).frame_jacobian(posture(), contact.frame) @ swaying.acceleration
        np.testing.assert_allclose(feet, np.zeros(6), atol=1e-6)
    assert swaying.wrench("left")[1] + swaying.wrench("right")[1] == pytest.approx(
        0.25 * model_of(ROBOT).mass, rel=1e-6
    )


def test_a_contact_that_is_lifted_exerts_nothing_and_its_foot_may_move():
    foot = PositionTask("l_sole", gain=10.0)
    one = dynamics(ComTask(), OrientationTask("root_link"), foot, PostureTask())
    one.solve(posture(), rest())
    foot.set_target(foot.target["position"] + [0.0, 0.0, 0.05])
    one.contacts["left"].is_loaded = False
    one.solve(posture(), rest())
    np.testing.assert_allclose(one.wrench("left"), np.zeros(6), atol=1e-9)
    rising = model_of(ROBOT).frame_jacobian(posture(), "l_sole") @ one.acceleration
    assert rising[2] > 1.0


def test_wrenches_stay_in_their_cones():
    com = ComTask(gain=10.0)
    pushed = dynamics(com, OrientationTask("root_link"), PostureTask())
    pushed.solve(posture(), rest())
    com.set_target(com.target["position"] + [0.3, 0.0, 0.0])
    pushed.solve(posture(), rest())
    for name, contact in pushed.contacts.items():
        fx, fy, fz, _, moment, _ = pushed.wrench(name)
        assert abs(fx) <= contact.cone.friction * fz + 1.0
        assert contact.x[0] - 0.01 <= -moment / fz <= contact.x[1] + 0.01
        assert abs(fy) < fz
