"""Layer 2 by the centroidal MPC: closed form of standing, contacts of a plan, footholds, refused settings, walks."""

import math
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from threading import Event
from unittest.mock import Mock

import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, NoSolutionFound, Side
from gradiva.planner import Retarget, VelocityCommand, WalkingPlanner, planned_polygon
from gradiva.reduced_model import ContactPhase, ContactPlan
from gradiva.reduced_model.centroidal_layer import _com_reference as com_reference_of
from gradiva.setup import load_setup
from gradiva.simplified_model import BalancePlan, SolverTimes, balance_layer
from gradiva.simulated_walk import SimulatedWalk, plan_from_start
from gradiva.walking import WalkingState
from tests.conftest import long
from tests.yarp_modules.made_up_state import state_near

CENTROIDAL = {"walking.model": "centroidal_mpc"}
SETUP = load_setup("icub_v3", CENTROIDAL)
PERIOD = 0.01


def balance_plan(plan, time):
    reference = plan.at(time)
    polygon, preview = planned_polygon(reference, SETUP.robot.sole), partial(plan.preview, time)
    contacts, dcm_ahead = partial(plan.contacts, time), partial(plan.dcm_ahead, time)
    return BalancePlan(reference, polygon, preview, np.zeros(2), contacts, dcm_ahead)


def state_on(reference, offset=(0.0, 0.0)):
    state = state_near(reference, len(SETUP.robot.joints), 0)
    off = np.array([*offset, 0.0])
    com, velocity = reference.com_position + off, reference.com_velocity
    return replace(state, com_position=com, com_velocity=velocity, zmp_position=reference.dcm.zmp_position)


class LateFuture(Future):
    """A result that is there, and is not handed out before its time."""

    def __init__(self, clock, due):
        super().__init__()
        self.clock, self.due = clock, due

    def done(self):
        return self.clock() > self.due - 1e-9


class LateThread:
    """Stands for the thread of the MPC: a decision begun at a time of ``clock`` takes ``delay(time)`` [s]."""

    def __init__(self, clock, delay):
        self.clock, self.delay = clock, delay

    def submit(self, decide, *inputs):
        future = LateFuture(self.clock, self.clock() + self.delay(self.clock()))
        future.set_result(decide(*inputs))
        return future


def late_layer(clock, delay):
    """Return a layer whose decisions are late, and the instantaneous law."""
    layer = balance_layer(SETUP.walking.balance, SETUP.robot)
    layer.time_limit, layer.law._executor = 1e-3, LateThread(clock, delay)
    return layer, balance_layer(load_setup("icub_v3").walking.balance, SETUP.robot)


def test_the_weight_of_a_robot_that_stands_is_shared_by_all_corners():
    layer = balance_layer(
        load_setup("icub_v3", CENTROIDAL | {"centroidal_walking.gives_wrenches": True}).walking.balance, SETUP.robot
    )
    planner = WalkingPlanner(SETUP.walking.planner)
    now = balance_plan(planner.standing(planner.at_origin(0.0)), 0.0)
    desired = layer.update(state_on(now.reference), now, 0.0, PERIOD)
    weight = SETUP.robot.mass * GRAVITY
    np.testing.assert_allclose(layer.law.solution.corner_forces[:, :, 2], weight / 8.0, rtol=1e-3)
    np.testing.assert_allclose(desired.zmp_position, [0.0, 0.0], atol=1e-4)
    for wrench in desired.foot_wrenches:
        np.testing.assert_allclose(wrench, [0.0, 0.0, weight / 2.0, 0.0, 0.0, 0.0], atol=1e-3 * weight)
    np.testing.assert_allclose(desired.com_acceleration, 0.0, atol=1e-2)
    assert desired.contact_targets is None


def test_a_plan_gives_each_sole_its_times_on_the_ground():
    plan = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0))
    first, second, third = plan.steps[:3]
    side, time = second.footstep.side, 0.5 * (second.lift_off + second.touch_down)  # in the middle of its swing
    contacts = plan.contacts(time, third.touch_down - time + 0.1)
    swinging, standing = ([each for each in contacts if each.side is foot] for foot in (side, side.other))
    assert [(each.begin, each.end) for each in swinging] == [(second.touch_down, None)]
    assert [(each.begin, each.end) for each in standing] == [
        (first.touch_down, third.lift_off),
        (third.touch_down, None),
    ]
    for contact, step in ((swinging[0], second), (standing[0], first), (standing[1], third)):
        np.testing.assert_allclose(contact.position[:2], [step.footstep.pose.x, step.footstep.pose.y])
    at_rest = plan.contacts(plan.end_time + 1.0, 2.0)
    assert [(contact.side, contact.end) for contact in at_rest] == [(Side.LEFT, None), (Side.RIGHT, None)]


def test_every_contact_change_is_a_node_and_nodes_stay_as_time_goes_on():
    place, turn = np.zeros(3), np.eye(3)
    left = [ContactPhase(0.0, 0.43, place, turn), ContactPhase(1.0, math.inf, place, turn)]
    plan = ContactPlan([left, [ContactPhase(0.0, math.inf, place, turn)]])
    nodes = plan.nodes(0.0, 0.1, 14)
    np.testing.assert_allclose(nodes[[0, 4, 10, 14]], [0.0, 0.43, 1.0, 1.4])
    np.testing.assert_allclose(np.diff(nodes[4:11]), 0.095)
    np.testing.assert_allclose(plan.nodes(0.5, 0.1, 5), [0.5, *nodes[5:10]])
    np.testing.assert_allclose(plan.nodes(nodes[7], 0.1, 3), nodes[7:11])


def test_the_com_reference_of_the_mpc_is_the_planned_com():
    plan = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0))
    time = plan.steps[2].lift_off + 0.1
    now = balance_plan(plan, time)
    times = time + np.linspace(0.0, 1.5, 50)
    planned = [plan.at(at).com_position for at in times]
    np.testing.assert_allclose(com_reference_of(now, now.dcm_ahead(0.02, 80))(times), planned, atol=2e-4)


@pytest.mark.parametrize("index", [3, 4])
def test_a_robot_on_its_plan_gets_the_planned_zmp_wherever_it_is(index):
    plan = plan_from_start(SETUP, VelocityCommand(0.15, duration=4.0))
    step = plan.steps[index]
    time = 0.5 * (step.lift_off + step.touch_down)
    now, layer = balance_plan(plan, time), balance_layer(SETUP.walking.balance, SETUP.robot)
    planned = now.reference.dcm.zmp_position
    assert np.abs(planned).min() > 0.05, "a wrong sign is seen"
    np.testing.assert_allclose(
        layer.update(state_on(now.reference), now, time, PERIOD).zmp_position, planned, atol=2e-3
    )


def test_a_push_that_the_sole_cannot_stop_moves_the_foothold_no_further_than_the_legs_reach():
    plan = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0))
    step = next(step for step in plan.steps[2:] if step.footstep.side is Side.RIGHT)
    time = 0.5 * (step.lift_off + step.touch_down)
    layer, now = balance_layer(SETUP.walking.balance, SETUP.robot), balance_plan(plan, time)
    state = state_on(now.reference)
    assert layer.update(state, now, time, PERIOD).contact_targets is None
    pushed = replace(state, com_velocity=state.com_velocity + np.array([0.6, -0.4, 0.0]))
    layer.reset()
    left, right = layer.update(pushed, now, time, PERIOD).contact_targets
    assert left is None
    nominal, stance = step.footstep.pose, plan.phase_at(time).left.pose
    assert right.x > nominal.x + 0.03
    assert right.y < nominal.y - 0.03
    limits = SETUP.walking.balance
    assert right.x - stance.x <= limits.longest_step + 1e-3
    inward = replace(state, com_velocity=state.com_velocity + np.array([0.0, 0.5, 0.0]))
    layer.reset()
    _, right = layer.update(inward, now, time, PERIOD).contact_targets
    assert stance.y - right.y == pytest.approx(limits.narrowest_step, abs=2e-3)


def test_without_a_solution_the_last_one_is_shifted_for_a_while_and_then_the_instantaneous_law_balances():
    setup = load_setup("icub_v3", CENTROIDAL | {"centroidal_walking.gives_wrenches": True})
    layer = balance_layer(setup.walking.balance, setup.robot)
    alone = balance_layer(load_setup("icub_v3").walking.balance, SETUP.robot)
    plan, law = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0)), layer.law
    now = balance_plan(plan, 1.0)
    layer.update(state_on(now.reference), now, 1.0, PERIOD)

    def fail(*_):
        raise NoSolutionFound("centroidal MPC", "maximum iterations reached")

    law.mpc._solver.solve = fail
    tolerated = law.config.mpc.tolerated_failures
    for decision in range(1, tolerated + 3):
        time = 1.0 + 0.02 * decision
        now = balance_plan(plan, time)
        desired = layer.update(state_on(now.reference, (0.01, 0.0)), now, time, PERIOD)
        assert layer.failures == decision
        assert ("maximum iterations" in layer.warning) == (decision > tolerated)
        assert (desired.foot_wrenches is None) == (decision > tolerated)  # layer 3 gets those of one and the same law
    state = state_on(now.reference, (0.01, 0.0))
    by_itself = alone.update(state, now, time, PERIOD).zmp_position
    np.testing.assert_array_equal(desired.zmp_position, by_itself)
    np.testing.assert_array_equal(layer.update(state, now, time, PERIOD).zmp_position, by_itself)  # until the next one
    assert layer.failures == tolerated + 2
    counts = layer.solver_times.as_table()
    assert (counts["decisions"], counts["fallbacks"]) == (1 + tolerated, tolerated)
    assert 0.0 < counts["solve_median_ms"] <= counts["solve_p99_ms"] <= counts["solve_max_ms"]
    del law.mpc._solver.solve
    now = balance_plan(plan, time + 0.02)
    layer.update(state_on(now.reference), now, time + 0.02, PERIOD)
    assert layer.warning == ""


def test_an_error_in_the_thread_reaches_the_tick_that_takes_its_answer():
    layer, alone = (
        balance_layer(load_setup("icub_v3", table).walking.balance, SETUP.robot) for table in (CENTROIDAL, {})
    )
    plan, law = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0)), layer.law
    law.mpc.update = Mock(side_effect=[NoSolutionFound("centroidal MPC", "infeasible"), ZeroDivisionError])
    layer.time_limit = 1e-3

    def desired(by, time):
        now = balance_plan(plan, time)
        zmp = by.update(state_on(now.reference, (0.01, 0.0)), now, time, PERIOD).zmp_position
        by.work_ahead()
        return zmp

    desired(layer, 1.0)
    wait([law.running])
    np.testing.assert_array_equal(desired(layer, 1.01), desired(alone, 1.01))
    assert "infeasible" in layer.warning
    desired(layer, 1.02)
    wait([law.running])
    with pytest.raises(ZeroDivisionError):
        desired(layer, 1.03)


def test_a_reset_waits_for_the_thread_and_forgets_its_answer():
    layer, plan = balance_layer(SETUP.walking.balance, SETUP.robot), plan_from_start(SETUP, VelocityCommand(0.15))
    layer.time_limit, now = 1e-3, balance_plan(plan, 1.0)
    layer.update(state_on(now.reference), now, 1.0, PERIOD)
    assert layer.law.running is None, "the tick answers first"
    layer.work_ahead()
    running = layer.law.running
    layer.reset()
    assert running.done()
    layer.update(state_on(now.reference), now, 1.0, PERIOD)
    layer.work_ahead()
    assert layer.law.solution is None
    assert layer.law.running is not running


def test_a_caller_that_never_works_ahead_has_the_solution_found_in_the_next_tick():
    layer, plan = balance_layer(SETUP.walking.balance, SETUP.robot), plan_from_start(SETUP, VelocityCommand(0.15))
    layer.time_limit = 1e-3
    is_over, decide = Event(), layer.law._decide
    layer.law._decide = lambda *given: is_over.wait(10.0) and decide(*given)
    for tick in range(2):
        now = balance_plan(plan, 1.0 + tick * PERIOD)
        layer.update(state_on(now.reference), now, now.reference.time, PERIOD)
    is_over.set()  # the second tick, which would take a solution that is there already
    assert layer.law.running.result().solution.times[0] == 1.0
    layer.reset()


def test_the_deadline_counts_where_a_tick_cannot_wait_and_in_no_simulation():
    setup = load_setup("icub_v3", CENTROIDAL | {"centroidal_walking.mpc.deadline": 1e-9})
    layer = balance_layer(setup.walking.balance, setup.robot)
    plan = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0))
    for decision, (limit, failures) in enumerate([(math.inf, 0), (math.inf, 0), (1.0, 1), (math.inf, 1)]):
        layer.time_limit = limit
        now = balance_plan(plan, 1.0 + 0.02 * decision)
        layer.update(state_on(now.reference), now, now.reference.time, PERIOD)
        assert layer.failures == failures


def test_a_plan_that_has_changed_is_decided_about_at_once():
    """A correction of the old plan is none of the new one, which restarts where the robot is."""
    layer, plan = balance_layer(SETUP.walking.balance, SETUP.robot), plan_from_start(SETUP, VelocityCommand(0.15))
    planner, law = WalkingPlanner(SETUP.walking.planner), layer.law
    law.mpc.update = Mock(wraps=law.mpc.update)
    for time, decisions in ((1.5, 1), (1.51, 1), (1.52, 2), (1.53, 2)):
        now = balance_plan(plan, time)
        layer.update(state_on(now.reference), now, time, PERIOD)
        assert law.mpc.update.call_count == decisions
    moved = now.reference.dcm.position + np.array([0.0, 0.01])
    plan = planner.retarget(plan, Retarget((), moved), 1.53)
    now = balance_plan(plan, 1.53)
    layer.update(state_on(now.reference), now, 1.53, PERIOD)
    assert law.mpc.update.call_count == 3


def test_an_old_decision_gives_way_to_the_instantaneous_law_until_there_is_one_in_time(caplog):
    """The third decision, begun at 1.04 s, takes 1.2 s: too old to count, it ends the warning alone."""
    plan, time = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0)), 1.0
    layer, alone = late_layer(lambda: time, lambda begin: 1.2 if 1.03 < begin < 1.05 else 0.0)
    followed, warned = [], []
    for tick in range(128):
        time = 1.0 + tick * PERIOD
        now = balance_plan(plan, time)
        state = state_on(now.reference, (0.01, 0.0))
        desired, by_itself = (by.update(state, now, time, PERIOD).zmp_position for by in (layer, alone))
        layer.work_ahead()
        if layer.warning:
            warned.append(tick)
        if np.abs(desired - by_itself).max() > 1e-6:
            followed.append(tick)
    assert followed == [*range(1, 9), 126, 127]
    assert warned == [*range(warned[0], 124)]
    assert warned[0] == pytest.approx(103, abs=1)
    assert "no decision in time for 1 s" in caplog.text


def test_a_decision_about_the_plan_before_is_not_followed_and_a_missed_tick_is_no_new_plan():
    plan, time = plan_from_start(SETUP, VelocityCommand(0.15, duration=3.0)), 1.5
    layer, alone = late_layer(lambda: time, lambda _: 0.0)

    def follows_mpc(plan, now_at):
        nonlocal time
        time = now_at
        now = balance_plan(plan, time)
        state = state_on(now.reference, (0.01, 0.0))
        desired, by_itself = (by.update(state, now, time, PERIOD).zmp_position for by in (layer, alone))
        layer.work_ahead()
        return bool(np.abs(desired - by_itself).max() > 1e-6)

    assert not follows_mpc(plan, 1.5)
    assert all(follows_mpc(plan, later) for later in (1.51, 1.54, 1.57))
    moved = balance_plan(plan, time).reference.dcm.position + np.array([0.0, 0.01])
    plan = WalkingPlanner(SETUP.walking.planner).retarget(plan, Retarget((), moved), 1.57)
    assert not follows_mpc(plan, 1.58)
    assert follows_mpc(plan, 1.59)


@pytest.mark.walk
@pytest.mark.parametrize("delay", [lambda _: 0.1, long(lambda time: 0.3 if time % 0.5 < 0.02 else 0.005)])
def test_a_robot_whose_decisions_come_late_goes_on_walking(delay):
    """Held until the next one, they let the DCM err by 24 mm; in time by 11 mm, by the instantaneous law by 12 mm."""
    walk = SimulatedWalk(SETUP)
    walk.layers.model_control.time_limit = 1e-3
    walk.layers.model_control.law._executor = LateThread(lambda: walk.time, delay)
    assert walk.get_ready()
    walk.controller.walk(VelocityCommand(0.15, duration=2.5))
    errors = []
    while walk.controller.state is WalkingState.WALKING:
        log = walk.tick()
        walk.controller.work_ahead()
        errors.append(np.linalg.norm(log.robot_state.dcm_position - log.reference.dcm.position))
    assert not walk.is_down
    assert walk.robot.truth().base_position[0] > 0.15
    assert max(errors) < 0.015
    assert walk.layers.model_control.solver_times.late > 5


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("toe_margin", -0.1, "toe_margin=-0.1, must not be negative"),
        ("mpc.samples", 1, "samples=1, must be at least 2"),
    ],
)
def test_settings_that_make_no_sense_are_refused(key, value, why):
    with pytest.raises(ConfigError, match=why):
        load_setup("icub_v3", CENTROIDAL | {f"centroidal_walking.{key}": value})


def test_a_margin_that_leaves_nothing_of_the_sole_is_refused():
    setup = load_setup("icub_v3", CENTROIDAL | {"centroidal_walking.toe_margin": 0.12})
    why = "toe_margin=0.12 m leaves nothing of a sole of 0.236 m x 0.1 m; centroidal_walking.toe_margin is set .*"
    with pytest.raises(ConfigError, match=why), setup.naming_places():
        balance_layer(setup.walking.balance, setup.robot)


def test_contacts_keep_a_margin_from_the_sides_and_a_larger_one_from_toe_and_heel():
    setup = load_setup("icub_v3", CENTROIDAL | {"centroidal_walking.toe_margin": 0.02})
    soles = balance_layer(setup.walking.balance, setup.robot).law._body.corners
    for corners in soles:
        np.testing.assert_allclose(np.abs(corners[:, :2]), np.full((4, 2), (0.118 - 0.02, 0.05 - 0.005)), atol=1e-12)


def test_decisions_that_take_longer_than_until_the_next_one_are_late():
    times = SolverTimes(0.02)
    for duration, age in ((0.001, 0.0), (0.02, np.float64(0.03)), (0.03, 0.0)):
        times.note(duration, age, duration > 0.02, (-1e3 * duration * age, 0.5), is_inaccurate=duration == 0.001)
    assert type(times.late) is int, "a Bottle carries no integer of NumPy"
    assert times.as_table() == {
        "decisions": 3,
        "fallbacks": 1,
        "late_decisions": 2,
        "inaccurate": 1,
        "estimate_max": pytest.approx(0.6),
        "residual_max": 0.5,
        "solve_median_ms": 20.0,
        "solve_p99_ms": pytest.approx(29.8),
        "solve_max_ms": 30.0,
    }


@pytest.mark.walk
@pytest.mark.parametrize(("control", "duration"), [("position", 2.0), long("torque", 1.0)])
def test_a_robot_walks_by_it(control, duration):
    prepared_soon = {"walking.control": control, "walking.prepare_duration": 0.5}
    walk = SimulatedWalk(load_setup("icub_v3", CENTROIDAL | prepared_soon))
    assert walk.get_ready(0.5)
    assert walk.follow(VelocityCommand(0.15, duration=duration), settle=0.5)
    assert walk.robot.truth().base_position[0] > 0.1 * (duration - 1.0)
    assert walk.layers.model_control.failures == 0
    assert walk.held_ticks == 0
