"""Each tick of a walk by torque meets its constraints; a tick that cannot is relaxed, then a fault."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import lu_factor, lu_solve

from gradiva.common import GRAVITY, ControlMode, Side
from gradiva.planner import VelocityCommand
from gradiva.walking import SafetyKind, WalkingState

pytestmark = pytest.mark.walk

TORQUE = "walking.control=torque"
HARD = tuple(f"torque_control.priorities.{name}=hard" for name in ("com", "wrench_cone", "torque_limits"))
FORCE_UNIT = 30.0  # [N, N·m] of a wrench among the variables
IMPATIENT = ("safety.failures.relaxed_duration=0.005", "safety.failures.failed_duration=0.01")


class TickWatch:
    """Looks at layer 3 after each tick of the control loop.

    Attributes:
        largest_step: Of a commanded torque from one tick to the next, [N·m].
        largest_violation: Of what must be met, in the units of the constraints.
        pushes_in_the_air: Forces and moments on feet that swing and do not touch, [N, N·m].
        largest_error: Of foot forces and moments and of joint torques against the exact optimum, [N, N·m].
        asked_ticks: How many the solver answered; the others took the guess.
        ticks: How many there were.
    """

    def __init__(self):
        self.largest_step = self.largest_violation = 0.0
        self.pushes_in_the_air = []
        self.largest_error, self.asked_ticks, self.ticks = 0.0, 0, 0
        self._last = None

    def __call__(self, walk):
        log, problem = walk.log, walk.layers.whole_body.problem
        if log is None or log.reference is None or log.command.mode is not ControlMode.TORQUE:
            return
        if self._last is not None:
            self.largest_step = max(self.largest_step, np.abs(log.command.values - self._last).max())
        self._last = log.command.values
        violation = problem.quadratic_program.violation(problem.solution)
        self.largest_violation = max(self.largest_violation, violation)
        wrenches = problem.solution[len(log.command.values) :][:12].reshape(2, 6)
        self._compare(problem)
        touch = walk.setup.walking.rigid_torque_control.touch_fraction * GRAVITY * walk.layers.mass
        for side, wrench in zip(Side, wrenches, strict=True):
            if not log.reference.foot(side).in_contact and normal_force(log.robot_state, side) <= touch:
                self.pushes_in_the_air.append(np.abs(wrench).max())

    def _compare(self, problem):
        error = problem.solution - exact_optimum(problem.quadratic_program, problem.solution)
        torques = problem.outputs["torque_rows"] @ error
        wrenches = FORCE_UNIT * error[len(torques) :][:12]
        self.largest_error = max(self.largest_error, np.abs(torques).max(), np.abs(wrenches).max())
        self.ticks += 1
        self.asked_ticks += problem.was_solver_asked


def normal_force(state, side):
    """Return the measured normal force on a foot, [N]."""
    return (state.left_foot_wrench if side is Side.LEFT else state.right_foot_wrench)[2]


def exact_optimum(problem, start):
    """Return the optimum of a program whose inequalities are soft, to rounding, (n,).

    Newton's method on the active set, begun with that of ``start``; the KKT equations are equilibrated and refined with
    residuals in extended precision.
    """
    size, equal, soft = len(problem.gradient), problem.lower == problem.upper, np.isfinite(problem.slack_weights)
    assert np.all(soft | equal | (np.minimum(-problem.lower, problem.upper) > 1e29))
    constraints = np.vstack((np.eye(problem.bounded_variables, size), problem.rows))
    rows, lower, upper, weights = (
        constraints[soft],
        problem.lower[soft],
        problem.upper[soft],
        problem.slack_weights[soft],
    )
    hard, active, solution = constraints[equal], _active_set(constraints[soft] @ start, lower, upper), start
    for _ in range(20):
        loads = weights * np.abs(active)
        pull = rows.T @ (loads * np.where(active > 0.0, upper, np.where(active < 0.0, lower, 0.0)))
        hessian = problem.hessian + rows.T @ (loads[:, None] * rows)
        matrix = np.block([[hessian, hard.T], [hard, np.zeros((len(hard), len(hard)))]])
        solution = _refined_solution(matrix, np.concatenate((pull - problem.gradient, problem.upper[equal])))[:size]
        last, active = active, _active_set(rows @ solution, lower, upper)
        if np.array_equal(active, last):
            return solution
    raise AssertionError("the active set cycles")


def _active_set(values, lower, upper):
    return np.subtract(values > upper, values < lower, dtype=np.float64)


def _refined_solution(matrix, right):
    scale = 1.0 / np.sqrt(np.abs(matrix).max(axis=1))
    factors = lu_factor(matrix * np.outer(scale, scale))
    exact, solution = matrix.astype(np.longdouble), np.zeros(len(right), np.longdouble)
    for _ in range(3):
        residual = (right - exact @ solution).astype(np.float64)
        solution = solution + scale * lu_solve(factors, scale * residual)
    return solution.astype(np.float64)


def test_contacts_change_without_a_jump_ticks_are_optimal_and_nothing_pushes_a_foot_in_the_air(ready):
    walk, watch = ready("icub_v2_7", TORQUE, settle=0.0), TickWatch()
    walk.controller.walk(VelocityCommand(0.25, duration=1.0))
    while walk.controller.state is WalkingState.WALKING:
        walk.tick()
        watch(walk)
    assert walk.controller.state is WalkingState.PAUSED
    tick = walk.setup.walking
    assert watch.largest_step <= tick.torque_control.torque_rate * tick.walking.period + 1e-9
    assert watch.largest_violation < 1e-6
    assert watch.largest_error < 1e-5
    assert watch.asked_ticks < 0.05 * watch.ticks
    assert len(watch.pushes_in_the_air) > 1000
    assert max(watch.pushes_in_the_air) < 1e-9


def test_an_infeasible_task_is_relaxed_for_a_while_then_the_robot_freezes_and_the_reason_names_it(ready):
    walk = ready("icub_v2_7", TORQUE, *HARD, *IMPATIENT, settle=0.0)
    within_reach = walk.layers.body_references.reference

    def beyond_reach(plan, desired):  # whether the feet touch or not
        return replace(within_reach(plan, desired), com_acceleration=np.array([0.0, 0.0, -200.0]))

    walk.layers.body_references.reference = beyond_reach
    start = walk.time
    walk.tick()
    assert walk.log.relaxed_task == "centre of mass"
    assert not walk.run(0.1)
    assert walk.controller.state is WalkingState.FAULT
    assert walk.time - start == pytest.approx(0.005 + 0.01, abs=0.004)  # ticks of 1 ms
    relaxed, failed, event = walk.controller.safety_events
    assert (relaxed.kind, relaxed.subject, relaxed.time) == (SafetyKind.RELAXED, "centre of mass", start)
    assert (failed.kind, failed.subject) == (SafetyKind.FAILED_TICK, "NoSolutionFound in whole_body")
    assert event.kind is SafetyKind.NO_SOLUTION
    assert "infeasible" in event.text
    assert "the hardest to meet is 'centre of mass'" in event.text
