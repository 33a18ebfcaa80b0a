from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import GRAVITY, NoSolutionFound, RobotPosture, Side, altered, so3
from gradiva.robot_model import as_array, interpreted
from gradiva.setup import GccCompiler, cache_folder
from gradiva.whole_body import (
    CompliantTorqueController,
    FlexibleTorqueController,
    RigidTorqueController,
    SolverName,
    TorqueActuation,
    make_solver,
)
from gradiva.whole_body.torque_control import Form, GroundSearch, GroundSearchConfig, LandingMemory
from tests.conftest import model_of
from tests.whole_body.standing_robot import (
    ACTUATION,
    PERIOD,
    RATE,
    ROBOT,
    accelerations,
    computations,
    contact,
    moved,
    reference,
    rigid_controller,
    start_posture,
    state,
    sunk_state,
    walking_config,
    weight_on,
)

HARD = tuple(
    f"torque_control.{name}=hard"
    for name in ("priorities.com", "priorities.wrench_cone", "priorities.joint_limits", "priorities.torque_limits")
)
CONFIG = walking_config().rigid_torque_control


@pytest.fixture
def rigid():
    controller = rigid_controller()
    controller.reset(start_posture())
    return controller


def on_one_foot(**changes):
    """Standing on the left foot, the right one in the air."""
    right = replace(reference().right_foot, in_contact=False)
    wanted = reference(right_foot=right, **changes)
    return replace(wanted, left_foot_wrench=weight_on(1.0), right_foot_wrench=np.zeros(6))


def disturbed_states(count):
    """States near standing, everything moving a little."""
    rng = np.random.default_rng(3)
    posture = start_posture()
    for _ in range(count):
        joints = posture.joint_positions + 0.03 * rng.normal(size=23)
        twist, velocities = 0.05 * rng.normal(size=6), 0.1 * rng.normal(size=23)
        yield state(replace(posture, joint_positions=joints), twist, velocities)


def test_where_all_is_as_asked_the_torques_hold_the_robot_still(rigid):
    before = state()
    torques = rigid.command(before, reference(), PERIOD).values
    np.testing.assert_allclose(accelerations(rigid, before), 0.0, atol=2e-3)
    assert np.max(np.abs(torques)) < 30.0
    assert rigid.desired_posture.joint_positions == pytest.approx(before.joint_positions, abs=1e-8)


def test_the_weight_rests_on_the_ground(rigid):
    before = state()
    rigid.command(before, reference(), PERIOD)
    np.testing.assert_allclose(wrenches_of(rigid).sum(axis=0)[:3], [0.0, 0.0, model_of(ROBOT).mass * GRAVITY], atol=0.1)


@pytest.mark.parametrize("axis", range(3))
def test_the_centre_of_mass_accelerates_where_it_is_sent(rigid, axis):
    wanted = np.zeros(3)
    wanted[axis] = 0.4
    before = state()
    rigid.command(before, reference(com_acceleration=wanted), PERIOD)
    np.testing.assert_allclose(com_of(accelerations(rigid, before)), wanted, atol=0.02)


def com_of(acceleration):
    """Acceleration of the centre of mass of a robot that stood still, through its Jacobian's image of ν̇."""
    body = computations(start_posture(), acceleration[:6], acceleration[6:])
    return as_array(body.getCenterOfMassVelocity())


def test_feet_that_stand_stay_and_a_foot_in_the_air_follows(rigid):
    wanted = np.array([0.5, 0.0, 1.0, 0.0, 0.0, 0.0])
    asked = on_one_foot()
    asked = replace(asked, right_foot=replace(asked.right_foot, acceleration=wanted))
    before = state()
    rigid.command(before, asked, PERIOD)
    change = accelerations(rigid, before)
    body = computations(start_posture(), change[:6], change[6:])
    np.testing.assert_allclose(as_array(body.getFrameVel("l_sole")), 0.0, atol=1e-6)
    np.testing.assert_allclose(as_array(body.getFrameVel("r_sole")), wanted, atol=0.05)
    np.testing.assert_allclose(rigid.problem.solution[29:35], 0.0, atol=1e-9)


def test_a_foot_that_rests_keeps_its_values_until_it_is_lifted(rigid):
    def commanded(*asked):
        rigid.reset(start_posture())
        return [rigid.command(state(), each, PERIOD).values for each in asked]

    def copied(each):
        return replace(each, left_foot=replace(each.left_foot), right_foot=replace(each.right_foot))

    rest = reference()
    asked = rest, rest, on_one_foot(), rest, rest
    np.testing.assert_array_equal(commanded(*asked), commanded(*map(copied, asked)))
    commanded(rest, on_one_foot())
    np.testing.assert_allclose(rigid.problem.solution[29:35], 0.0, atol=1e-9)


def test_a_foot_that_is_to_carry_little_exerts_little_of_the_moment(rigid):
    wrenches = {"left_foot_wrench": weight_on(0.2), "right_foot_wrench": weight_on(0.8)}
    before, moments = state(), []
    for acceleration in (0.0, 0.3):
        ahead = np.array([acceleration, 0.0, 0.0])
        rigid.command(before, replace(reference(com_acceleration=ahead), **wrenches), PERIOD)
        moments.append(wrenches_of(rigid)[:, 4])
    left, right = np.abs(moments[1] - moments[0])
    assert right > 2.0
    assert left < 0.25 * right


def test_the_foot_that_landed_last_keeps_six_percent_of_the_weight_unless_a_step_catches_a_push(rigid):
    weight = model_of(ROBOT).mass * GRAVITY

    def right_load(first, **changes):
        rigid.reset(start_posture())
        rigid.command(state(), first, PERIOD)
        for _ in range(10):  # torques change by their rate
            rigid.command(state(), reference(com_acceleration=np.array([0.0, -2.0, 0.0]), **changes), PERIOD)
        return wrenches_of(rigid)[1, 2] / weight

    assert right_load(on_one_foot()) == pytest.approx(0.06, abs=1e-4)
    assert right_load(reference()) == pytest.approx(5.0 / weight, abs=1e-4)  # both stand from the beginning
    assert right_load(on_one_foot(), step_catches=True) == pytest.approx(5.0 / weight, abs=1e-4)


def test_what_must_be_met_is_met(rigid):
    for before in disturbed_states(5):
        rigid.reset(start_posture())
        rigid.command(before, reference(), PERIOD)
        assert rigid.problem.quadratic_program.violation(rigid.problem.solution) < 1e-6


def test_a_turned_and_moved_world_leaves_the_torques(rigid):
    turn, shift = so3.rotation_z(0.8), np.array([3.0, -2.0, 0.0])
    asked = reference(com_acceleration=np.array([0.3, 0.1, 0.0]))
    before = rigid.command(state(), asked, PERIOD).values
    rigid.reset(start_posture())
    there = moved(start_posture(), turn, shift)
    after = rigid.command(state(there), in_a_moved_world(asked, turn, shift), PERIOD).values
    np.testing.assert_allclose(after, before, atol=1e-5)


def in_a_moved_world(asked, turn, shift):
    both = np.kron(np.eye(2), turn)
    feet = {
        f"{side}_foot": replace(foot, position=turn @ foot.position + shift, rotation=turn @ foot.rotation)
        for side, foot in (("left", asked.left_foot), ("right", asked.right_foot))
    }
    return replace(
        asked,
        **feet,
        com_position=turn @ asked.com_position + shift,
        com_acceleration=turn @ asked.com_acceleration,
        torso_rotation=turn @ asked.torso_rotation,
        pelvis_rotation=turn @ asked.pelvis_rotation,
        left_foot_wrench=both @ asked.left_foot_wrench,
        right_foot_wrench=both @ asked.right_foot_wrench,
    )


def test_both_forms_both_solvers_and_the_guess_find_the_same_optimum(rigid):
    full = RigidTorqueController(model_of(ROBOT), replace(CONFIG, form=Form.FULL), ACTUATION, start_posture())
    for asked in (reference(com_acceleration=np.array([0.5, -0.4, 0.2])), on_one_foot()):
        for before in disturbed_states(2):
            full.reset(start_posture())
            rigid.reset(start_posture())
            torques = rigid.command(before, asked, PERIOD).values
            wanted = accelerations(rigid, before)
            np.testing.assert_allclose(full.command(before, asked, PERIOD).values, torques, atol=2e-3)
            np.testing.assert_allclose(accelerations(full, before), wanted, atol=2e-3)
            for controller in (rigid, full):
                problem = controller.problem
                for solver in SolverName:
                    solution = make_solver(solver, str(solver), problem.quadratic_program).solve()
                    np.testing.assert_allclose(solution, problem.solution, atol=1e-5)


def wrenches_of(controller):
    return 30.0 * controller.problem.solution[23:35].reshape(2, 6)


def test_the_whole_centroidal_momentum_may_be_a_constraint():
    controller = rigid_controller(
        "torque_control.priorities.com=hard", "torque_control.priorities.angular_momentum=hard"
    )
    wanted = np.array([0.3, -0.2, 0.1])
    moving = np.zeros(23)
    moving[0] = 0.5
    before = state(joint_velocities=moving)
    controller.command(before, reference(com_acceleration=wanted), PERIOD)
    left, right = wrenches_of(controller)
    force = left[:3] + right[:3]
    damped = CONFIG.com.damping * before.com_velocity
    mass = model_of(ROBOT).mass
    np.testing.assert_allclose(force / mass - [0.0, 0.0, GRAVITY], wanted - damped, atol=1e-3)
    body = computations(start_posture(), before.base_twist, moving)
    momentum = as_array(body.getCentroidalTotalMomentum())[3:]
    levers = before.left_foot_position - before.com_position, before.right_foot_position - before.com_position
    rate = left[3:] + right[3:] + np.cross(levers[0], left[:3]) + np.cross(levers[1], right[:3])
    np.testing.assert_allclose(rate, -CONFIG.angular_momentum.damping * momentum, atol=1e-6)


def test_torques_do_not_jump_when_a_foot_is_lifted(rigid):
    before = rigid.command(state(), reference(), PERIOD).values
    after = rigid.command(state(), on_one_foot(), PERIOD).values
    assert 1.0 < np.max(np.abs(after - before)) < 1.05 * RATE * PERIOD


def test_a_joint_near_its_limit_is_braked(rigid):
    knee = model_of(ROBOT).description.joints.index("l_knee")
    highest = model_of(ROBOT).joint_limits()[1][knee]
    joints = start_posture().joint_positions.copy()
    joints[knee] = highest - 0.01
    velocities = np.zeros(23)
    velocities[knee] = 1.0
    before = state(replace(start_posture(), joint_positions=joints), None, velocities)
    rigid.command(before, on_one_foot(), PERIOD)
    horizon, margin = CONFIG.joint_limits.horizon, CONFIG.joint_limits.margin
    reached = joints[knee] + horizon * 1.0 + 0.5 * horizon**2 * accelerations(rigid, before)[6 + knee]
    assert reached <= highest - margin + 1e-3


def test_an_impossible_reference_is_an_error_with_the_name_of_its_task():
    controller = rigid_controller(*HARD)
    before = controller.desired_velocity.copy()
    with pytest.raises(NoSolutionFound, match=r"rigid torque control.*infeasible.*'centre of mass'") as caught:
        controller.command(state(), reference(com_acceleration=np.array([0.0, 0.0, 200.0])), PERIOD)
    assert caught.value.task == "centre of mass"
    np.testing.assert_array_equal(controller.desired_velocity, before)


def test_an_impossible_foot_is_an_error_with_its_name():
    controller = rigid_controller(*HARD)
    twist = np.array([0.0, 0.0, 0.0, 0.0, 200.0, 0.0])
    with pytest.raises(NoSolutionFound) as caught:
        controller.command(state(base_twist=twist), reference(), PERIOD)
    assert caught.value.task in ("left standing foot", "right standing foot")


def test_relaxed_the_robot_comes_as_near_as_it_can():
    controller = rigid_controller(*HARD)
    before = state()
    wanted = reference(com_acceleration=np.array([0.0, 0.0, 200.0]))
    torques = controller.command(before, wanted, PERIOD, relaxed=True).values
    assert np.all(np.abs(torques) <= model_of(ROBOT).torque_limits() + 0.5)
    assert controller.problem.violations()["centre of mass"] > 100.0
    assert com_of(accelerations(controller, before))[2] > 1.0


def test_relaxed_a_problem_that_has_a_solution_keeps_it():
    controller = rigid_controller(*HARD)
    wanted = reference(com_acceleration=np.array([0.2, 0.1, 0.0]))
    controller.reset(start_posture())
    exact = controller.command(state(), wanted, PERIOD).values
    controller.reset(start_posture())
    np.testing.assert_allclose(controller.command(state(), wanted, PERIOD, relaxed=True).values, exact, atol=0.02)


def test_violations_of_soft_limits_are_returned(rigid):
    rigid.command(state(), reference(com_acceleration=np.array([0.0, 60.0, 0.0])), PERIOD)
    missed = rigid.problem.violations()
    assert max(missed["left foot's wrench"], missed["right foot's wrench"], missed["joint torques"]) > 1e-4
    assert missed["base dynamics"] < 1e-6


def on_the_way_down():
    return replace(reference(), left_foot_wrench=weight_on(1.0), right_foot_wrench=np.zeros(6))


def test_a_foot_that_should_stand_and_does_not_touch_looks_for_the_ground(rigid):
    before = state(left_contact=contact("left"), right_contact=contact("right", is_active=False))
    rigid.command(before, on_the_way_down(), PERIOD)
    change = accelerations(rigid, before)
    body = computations(start_posture(), change[:6], change[6:])
    sinking = -CONFIG.search.jerk * PERIOD * (1.0 + 0.5 * PERIOD * CONFIG.swing_foot.linear_damping)
    np.testing.assert_allclose(as_array(body.getFrameVel("r_sole"))[2], sinking, atol=0.05)


def test_a_search_for_the_ground_gathers_speed_from_rest():
    search = GroundSearch(GroundSearchConfig(speed=0.1, jerk=30.0))
    motions, times = np.array([search.update(True, PERIOD) for _ in range(100)]), PERIOD * np.arange(1, 101)
    np.testing.assert_allclose(motions[:, 0], -np.minimum(15.0 * times**2, 0.1), atol=1e-12)
    np.testing.assert_allclose(motions[:, 1], np.where(15.0 * times**2 < 0.1, -30.0 * times, 0.0), atol=1e-12)
    np.testing.assert_array_equal(search.update(False, PERIOD), 0.0)
    np.testing.assert_array_equal(search.update(True, PERIOD), motions[0])


def feet_seen(tilt, rise, left_load=0.5):
    """Estimate of soles that rest on the floor: tilted, the left one higher by ``rise``; and the planned reference."""
    planned, weight = reference(), 330.0
    turn = so3.exp(np.array([*tilt, 0.1]))
    seen = state(
        left_foot_rotation=planned.left_foot.rotation @ turn,
        left_foot_position=planned.left_foot.position + np.array([0.02, 0.0, rise]),
        right_foot_position=planned.right_foot.position,
        left_foot_wrench=np.array([0.0, 0.0, left_load * weight, 0.0, 0.0, 0.0]),
        right_foot_wrench=np.array([0.0, 0.0, (1.0 - left_load) * weight, 0.0, 0.0, 0.0]),
    )
    return LandingMemory(weight), seen, planned


def test_a_foot_is_to_land_as_high_and_as_tilted_as_it_was_seen_to_rest():
    landings, seen, planned = feet_seen((0.02, -0.01), 0.004)
    for _ in range(2000):
        landings.update(seen, planned, set(Side), PERIOD)
    swing = altered(planned.left_foot, in_contact=False)
    for _ in range(300):
        landings.update(seen, planned, {Side.RIGHT}, PERIOD)
    lands = landings.expected(Side.LEFT, swing)
    np.testing.assert_allclose(lands.position - swing.position, [0.0, 0.0, 0.004], atol=1e-6)
    np.testing.assert_allclose(so3.log(swing.rotation.T @ lands.rotation), [0.02, -0.01, 0.0], atol=2e-4)
    np.testing.assert_allclose(lands.twist, swing.twist, atol=1e-12)
    assert landings.expected(Side.RIGHT, planned.right_foot).position[2] == planned.right_foot.position[2]


def test_the_foot_that_landed_last_keeps_load_until_the_other_one_lands_or_both_have_stood():
    landings, seen, planned = feet_seen((0.0, 0.0), 0.0)

    def after(duration, *loaded):
        for _ in range(round(duration / PERIOD)):
            landings.update(seen, planned, loaded, PERIOD)
        return [landings.kept_load(side) for side in Side]

    assert after(0.5, *Side) == [0.0, 0.0]  # a robot that stands may lift any
    assert after(0.5, Side.RIGHT) == [0.0, 0.0]
    assert after(0.4, *Side) == [0.06, 0.0]
    assert after(2.0, Side.LEFT) == [0.06, 0.0]
    assert after(0.4, *Side) == [0.0, 0.06]
    assert after(0.7, *Side) == [0.0, 0.0]


@pytest.mark.parametrize("period", [0.001, 0.005, 0.02])
def test_landings_are_learned_alike_by_ticks_of_any_length(period):
    landings, seen, planned = feet_seen((0.02, -0.01), 0.004)
    for _ in range(round(0.06 / period)):
        landings.update(seen, planned, set(Side), period)
    part = 1.0 - np.exp(-0.06 / 0.15)
    landings.update(seen, planned, {Side.RIGHT}, 1e-6)
    landed = landings.expected(Side.LEFT, altered(planned.left_foot, in_contact=False)).rotation
    turn = so3.log(planned.left_foot.rotation.T @ landed)
    np.testing.assert_allclose(turn, [0.02 * part, -0.01 * part, 0.0], atol=1e-4)


def test_the_learned_height_comes_in_smoothly_after_lift_off_with_the_motion_of_its_derivatives():
    landings, seen, planned = feet_seen((0.0, 0.0), 0.004)
    for _ in range(2000):
        landings.update(seen, planned, set(Side), PERIOD)
    swing, motion = altered(planned.left_foot, in_contact=False), []
    for _ in range(200):
        landings.update(seen, planned, {Side.RIGHT}, PERIOD)
        lands = landings.expected(Side.LEFT, swing)
        motion.append((lands.position[2] - swing.position[2], lands.twist[2], lands.acceleration[2]))
    height, rate, acceleration = np.array(motion).T
    np.testing.assert_allclose(np.gradient(height, PERIOD)[1:-1], rate[1:-1], atol=1e-4)
    np.testing.assert_allclose(np.gradient(rate, PERIOD)[1:-1], acceleration[1:-1], atol=1e-2)
    assert height[0] < 1e-6
    assert height[-1] == pytest.approx(0.004, abs=1e-6)


def test_a_landing_is_learned_of_the_foot_that_landed_last_and_of_loads_that_rest_on_the_floor():
    landings, seen, planned = feet_seen((0.02, 0.0), 0.02, left_load=0.1)
    for _ in range(500):
        landings.update(seen, planned, set(Side), PERIOD)  # a foot with a tenth of the weight may stand on an edge
    assert landings.expected(Side.LEFT, planned.left_foot).rotation == pytest.approx(planned.left_foot.rotation)
    landings.update(seen, planned, {Side.RIGHT}, PERIOD)
    _, seen, _ = feet_seen((0.0, 0.0), 0.02)
    for _ in range(2000):
        landings.update(seen, planned, set(Side), PERIOD)
    for side, height in ((Side.LEFT, 0.006), (Side.RIGHT, 0.0)):  # no more than robots have
        for _ in range(300):
            landings.update(seen, planned, {side.other}, PERIOD)
        foot = altered(planned.left_foot, in_contact=False)
        assert landings.expected(side, foot).position[2] - foot.position[2] == pytest.approx(height, abs=1e-6)
    landings.reset()
    landings.update(seen, planned, {Side.RIGHT}, PERIOD)
    np.testing.assert_array_equal(landings.expected(Side.LEFT, foot).rotation, foot.rotation)


def learned_height(landings, side):
    """Height of the next landing of a foot that is lifted now."""
    planned, seen = reference(), state()
    foot = planned.left_foot if side is Side.LEFT else planned.right_foot
    for _ in range(300):
        landings.update(seen, planned, {side.other}, PERIOD)
    return landings.expected(side, foot).position[2] - foot.position[2]


@pytest.mark.parametrize(
    ("landing", "heights"),
    [
        ([set(), {Side.LEFT}], {Side.LEFT: 0.0, Side.RIGHT: -0.004}),
        ([set(), {Side.RIGHT}], {Side.LEFT: 0.004, Side.RIGHT: 0.0}),
        ([set()], {Side.LEFT: 0.004, Side.RIGHT: -0.004}),
    ],
)
def test_of_two_feet_in_the_air_the_height_of_the_one_that_lands_later_is_learned(landing, heights):
    for side, height in heights.items():
        landings, seen, planned = feet_seen((0.0, 0.0), 0.004)
        for loaded in [*landing, *[set(Side)] * 2000]:
            landings.update(seen, planned, loaded, PERIOD)
        assert learned_height(landings, side) == pytest.approx(height, abs=1e-6)


@pytest.mark.parametrize("side", Side)
def test_no_height_is_learned_while_a_foot_reads_no_load(side):
    landings, seen, planned = feet_seen((0.0, 0.0), 0.004)
    unread = altered(seen, **{f"{side}_foot_wrench": np.full(6, np.nan)})
    for _ in range(500):
        landings.update(unread, planned, set(Side), PERIOD)
    assert [learned_height(landings, each) for each in Side] == [0.0, 0.0]


def test_a_posture_is_where_the_acceleration_leads(rigid):
    before = state(base_twist=np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.2]))
    rigid.command(before, reference(), PERIOD)
    after = rigid.desired_posture
    assert isinstance(after, RobotPosture)
    np.testing.assert_allclose(after.base_position, before.base_position + PERIOD * rigid.desired_velocity[:3])


def test_a_second_controller_of_one_configuration_is_composed_no_more_and_shares_no_memory():
    compiled = []

    def counted(function):
        compiled.append(function.name())
        return function

    config, posture = walking_config().rigid_torque_control, start_posture()
    first, second = (RigidTorqueController(model_of(ROBOT), config, ACTUATION, posture, counted) for _ in range(2))
    assert compiled == ["rigid_torque_control_icub_v2_7"]
    other_way = reference(com_acceleration=np.array([0.3, 0.1, 0.0]))
    before = first.command(state(), reference(), PERIOD).values
    second.command(state(), other_way, PERIOD)
    first.reset(posture)
    np.testing.assert_array_equal(first.command(state(), reference(), PERIOD).values, before)
    assert np.abs(second.command(state(), other_way, PERIOD).values - before).max() > 0.1
    other = replace(config, wrench_weight=2.0 * config.wrench_weight)
    RigidTorqueController(model_of(ROBOT), other, ACTUATION, posture, counted)
    assert len(compiled) == 2


LAWS = {
    "rigid": lambda config, *common: RigidTorqueController(model_of(ROBOT), config.rigid_torque_control, *common),
    "flexible": lambda config, *common: FlexibleTorqueController(
        model_of(ROBOT), config.rigid_torque_control, config.flexible_torque_control, *common
    ),
    "compliant": lambda config, *common: CompliantTorqueController(
        model_of(ROBOT), config.compliant_torque_control, *common
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_while_a_step_catches_a_push_each_law_asks_for_no_zmp_far_beyond_the_soles(law):
    actuation = TorqueActuation(RATE, zmp_excess=(10.0, 0.05))
    compiler = interpreted if law == "flexible" else GccCompiler(cache_folder())  # the others are compiled as shipped
    controller = LAWS[law](walking_config(), actuation, start_posture(), compiler)
    standing = sunk_state(1e-3) if law == "compliant" else state()

    def torques(error, catches):
        controller.reset(start_posture())
        com_position = reference().com_position + np.array([error, 0.0, 0.0])
        wanted = reference(com_position=com_position, step_catches=catches)
        return controller.command(standing, wanted, PERIOD).values

    np.testing.assert_allclose(torques(0.3, True), torques(0.4, True), atol=1e-3)
    assert np.abs(torques(0.3, False) - torques(0.4, False)).max() > 0.1
    np.testing.assert_allclose(torques(0.01, True), torques(0.01, False), atol=1e-9)


def test_a_bound_on_the_zmp_without_a_push_holds_in_any_tick():
    excess = (0.05, 10.0)
    controller = LAWS["flexible"](walking_config(), TorqueActuation(RATE, zmp_excess=excess), start_posture())

    def torques(error, catches):
        controller.reset(start_posture())
        com_position = reference().com_position + np.array([error, 0.0, 0.0])
        return controller.command(state(), reference(com_position=com_position, step_catches=catches), PERIOD).values

    np.testing.assert_allclose(torques(0.3, False), torques(0.4, False), atol=1e-3)
    assert np.abs(torques(0.3, True) - torques(0.4, True)).max() > 0.1
