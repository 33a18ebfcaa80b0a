import casadi as cs
import numpy as np
import pytest

from gradiva.robot_model import FlatFunction
from gradiva.setup import load_robot
from gradiva.whole_body import Priority
from gradiva.whole_body.qp_composer import QpComposer, guessed_optimum
from gradiva.whole_body.reference_symbols import Parameters
from tests.whole_body.standing_robot import PERIOD, reference, rigid_controller, start_posture, state

JOINT = load_robot("icub_v2_7").joints.index("l_elbow")


class Toy:
    """Three variables that want to be (3, 4, 5), the first two with bounds."""

    def __init__(self):
        self.variables = cs.SX.sym("x", 3)
        self.parameters = Parameters()
        self.composer = QpComposer(self.variables, bounded=2)
        self.composer.cost("place", self.variables - cs.DM([3.0, 4.0, 5.0]), cs.SX(1.0))

    def guess(self, active_limits=0.0, **values):
        """Return optimum, violation and residual."""
        outputs = guessed_optimum(self.composer, self.parameters)
        function = FlatFunction("toy", self.parameters.symbols, outputs)
        function.set(**self.parameters.constants, active_limits=active_limits, **values)
        results = function()
        return results["guess"], float(results["guess_violation"][0]), float(results["guess_residual"][0])


@pytest.fixture
def toy():
    return Toy()


def test_what_nothing_holds_back_is_where_it_wants_to_be(toy):
    optimum, violation, residual = toy.guess()
    np.testing.assert_allclose(optimum, [3.0, 4.0, 5.0], atol=1e-5)
    assert violation < 0.0
    assert residual < 1e-12


def test_laws_are_obeyed(toy):
    toy.composer.law("sum", cs.sum1(toy.variables))
    optimum, violation, residual = toy.guess()
    np.testing.assert_allclose(optimum, [-1.0, 0.0, 1.0], atol=1e-5)
    assert abs(violation) < 1e-12
    assert residual < 1e-12


@pytest.mark.parametrize(("asked_for", "expected"), [(1.0, [0.0, 4.0, 5.0]), (0.0, [3.0, 4.0, 5.0])])
def test_an_inactive_hard_task_has_no_effect(toy, asked_for, expected):
    active = toy.parameters.symbol("active")
    toy.composer.task("first", toy.variables[0], Priority.HARD, cs.SX(1.0), 1.0, active)
    optimum, violation, _ = toy.guess(active=asked_for)
    np.testing.assert_allclose(optimum, expected, atol=1e-5)
    assert violation < 1e-12


@pytest.mark.parametrize(("active", "expected"), [(1.0, [0.0, 4.0, 5.0]), (0.0, [3.0, 4.0, 5.0])])
def test_what_is_fixed_is_zero(toy, active, expected):
    toy.composer.fix("first", 0, 1, toy.parameters.symbol("active"))
    optimum, violation, _ = toy.guess(active=active)
    np.testing.assert_allclose(optimum, expected, atol=1e-5)
    assert violation < 1e-12


def test_a_bound_that_is_passed_unguessed_is_violated_in_units_of_the_gradient(toy):
    toy.composer.bound("first", 0, cs.SX(-9.0), cs.SX(1.0), Priority.SOFT, 3.0)
    assert toy.guess()[1] == pytest.approx(3.0 * 2.0, abs=1e-4)


def test_an_active_bound_costs_its_slack_weight(toy):
    toy.composer.bound("first", 0, cs.SX(-9.0), cs.SX(1.0), Priority.SOFT, 3.0)
    optimum, violation, _ = toy.guess(active_limits=(1.0, 0.0))
    np.testing.assert_allclose(optimum, [1.5, 4.0, 5.0], atol=1e-5)  # d/dx ½ (x - 3)² + ½ 3 (x - 1)² = 0
    assert violation < 0.0


def test_a_bound_that_is_guessed_active_and_is_not_is_violated(toy):
    toy.composer.bound("first", 0, cs.SX(-9.0), cs.SX(3.5), Priority.SOFT, 4.0)
    optimum, violation, _ = toy.guess(active_limits=(1.0, 0.0))
    assert optimum[0] == pytest.approx(3.4, abs=1e-5)
    assert violation == pytest.approx(4.0 * 0.1, abs=1e-5)


def test_a_lower_bound_is_active_from_above(toy):
    toy.composer.bound("second", 1, cs.SX(6.0), cs.SX(9.0), Priority.SOFT, 1.0)
    optimum, violation, _ = toy.guess(active_limits=(0.0, -1.0))
    np.testing.assert_allclose(optimum, [3.0, 5.0, 5.0], atol=1e-5)
    assert violation < 0.0


def test_a_hard_bound_is_never_guessed_active_and_violated_in_its_own_unit(toy):
    toy.composer.bound("first", 0, cs.SX(-9.0), cs.SX(1.0), Priority.HARD, 3.0)
    optimum, violation, _ = toy.guess(active_limits=1.0)
    assert optimum[0] == pytest.approx(3.0, abs=1e-5)
    assert violation == pytest.approx(2.0, abs=1e-5)


def test_rows_that_are_passed_are_violated(toy):
    toy.composer.limit("sum", cs.sum1(toy.variables), cs.SX(0.0), cs.SX(10.0), Priority.SOFT, 1.0)
    assert toy.guess()[1] == pytest.approx(2.0, abs=1e-4)


def test_equations_without_a_solution_have_no_finite_residual(toy):
    toy.composer.law("first", toy.variables[0] - 1.0)
    toy.composer.law("again", toy.variables[0] - 2.0)
    _, violation, residual = toy.guess()
    assert not (violation < 0.1 and residual < 0.1)


def test_a_standing_robot_needs_no_solver_and_gets_the_solvers_optimum(monkeypatch):
    problem = standing().problem
    np.testing.assert_allclose(problem.solution, problem.solver.solve(), atol=1e-7)
    monkeypatch.setattr(problem, "solver", None)  # asked, it would fail
    np.testing.assert_array_equal(standing().problem.solution, problem.solution)


def test_joints_at_their_limits_are_guessed_after_the_first_tick(monkeypatch):
    elbow = start_posture().joint_positions[JOINT]
    narrowed = f"torque_control.narrowed={{l_elbow = [0.0, {elbow}]}}"
    controller = standing(narrowed)
    asked = controller.problem.solution
    assert controller.problem.violations()["joint positions"] > 0.0
    monkeypatch.setattr(controller.problem, "solver", None)
    controller.command(state(), reference(), PERIOD)
    np.testing.assert_allclose(controller.problem.solution, asked, atol=1e-7)


def standing(*overrides):
    """A controller that has commanded one tick."""
    controller = rigid_controller(*overrides)
    controller.reset(start_posture())
    controller.command(state(), reference(), PERIOD)
    return controller
