from pathlib import Path

import numpy as np
import pytest

from gradiva.common import NoSolutionFound
from gradiva.whole_body import QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.qp_solver import DaqpSolver, refined_optimum


def problem():
    """Minimise (x0 - 2)² + (x1 - 1)² with x0 + x1 = 2, x0 ≤ 1: the optimum is (1, 1)."""
    return QuadraticProgram(
        hessian=2.0 * np.eye(2),
        gradient=np.array([-4.0, -2.0]),
        rows=np.array([[1.0, 1.0]]),
        lower=np.array([-1.0, 2.0]),
        upper=np.array([1.0, 2.0]),
    )


@pytest.mark.parametrize("solver", list(SolverName))
def test_both_solvers_find_the_optimum_on_the_bound(solver):
    np.testing.assert_allclose(make_solver(solver, "toy", problem()).solve(), [1.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("solver", list(SolverName))
def test_data_may_change_between_solutions(solver):
    program = problem()
    toy = make_solver(solver, "toy", program)
    toy.solve()
    program.upper[0] = 5.0
    np.testing.assert_allclose(toy.solve(), [1.5, 0.5], atol=1e-6)
    program.hessian[0, 0] = 20.0
    np.testing.assert_allclose(toy.solve(), [6.0 / 22.0, 2.0 - 6.0 / 22.0], atol=1e-5)


@pytest.mark.parametrize("solver", list(SolverName))
def test_contradicting_constraints_are_an_error_with_the_name_of_the_problem(solver):
    program = problem()
    program.lower[0] = 3.0
    program.upper[0] = 4.0
    program.rows[0] = [1.0, 0.0]
    with pytest.raises(NoSolutionFound, match="toy: the solver answered"):
        make_solver(solver, "toy", program).solve()


def test_the_violation_is_that_of_the_worst_constraint():
    assert problem().violation(np.array([1.3, 1.0])) == pytest.approx(0.3)
    assert problem().violation(np.array([1.0, 1.0])) == 0.0


@pytest.mark.parametrize("solver", list(SolverName))
def test_a_soft_constraint_may_be_violated(solver):
    program = problem()
    program.slack_weights = np.array([np.inf, 6.0])
    program.lower[:] = program.upper[:] = [1.0, 0.0]
    # x0 = 1; d/dx1 (x1 - 1)² + 3 (1 + x1)² = 0
    np.testing.assert_allclose(make_solver(solver, "toy", program).solve(), [1.0, -0.5], atol=1e-6)
    assert program.violation(np.array([1.0, -0.5])) == 0.0
    np.testing.assert_allclose(program.excess(np.array([1.0, -0.5])), [0.0, 0.5])


@pytest.mark.parametrize("slack_weights", [None, np.full(4, np.inf), np.array([np.inf, np.inf, np.inf, 1.0])])
@pytest.mark.parametrize("solver", list(SolverName))
def test_equalities_that_contradict_each_other_from_the_first_tick_on_are_an_error_of_that_tick(solver, slack_weights):
    program = problem()
    program.rows, program.slack_weights = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]), slack_weights
    program.lower, program.upper = np.array([-9.0, 2.0, 3.0, -9.0]), np.array([9.0, 2.0, 3.0, 9.0])
    toy = make_solver(solver, "toy", program)
    for _ in range(2):
        with pytest.raises(NoSolutionFound, match="toy: the solver answered"):
            toy.solve()
    program.lower[2] = program.upper[2] = 2.0
    np.testing.assert_allclose(toy.solve(), [1.5, 0.5], atol=1e-6)


@pytest.mark.parametrize("solver", list(SolverName))
def test_a_limit_may_become_an_equality_and_back(solver):
    program = problem()
    toy = make_solver(solver, "toy", program)
    np.testing.assert_allclose(toy.solve(), [1.0, 1.0], atol=1e-6)
    program.lower[1], program.upper[1] = -1e30, 1e30
    program.lower[0] = program.upper[0] = 0.5
    np.testing.assert_allclose(toy.solve(), [0.5, 1.0], atol=1e-6)
    program.lower[:], program.upper[:] = [-1.0, 2.0], [1.0, 2.0]
    np.testing.assert_allclose(toy.solve(), [1.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("solver", list(SolverName))
def test_a_problem_that_is_not_finite_has_no_solution(solver):
    program = problem()
    program.gradient[0] = np.nan
    with pytest.raises(NoSolutionFound, match="toy: the solver answered"):
        make_solver(solver, "toy", program).solve()


def test_the_refined_optimum_meets_constraints_that_a_dual_solver_misses_where_conditions_meet_large_multipliers():
    """Recorded: TALOS by torque on the plant `robot`, 8.8 s at 0.15 m/s, right foot 7 N outside of its cone."""
    with np.load(Path(__file__).parent / "recordings" / "talos_torque_tick.npz") as recorded:
        problem = QuadraticProgram(**recorded, regularisation=1e-6)
    solution = DaqpSolver("recorded", problem).solve()
    assert problem.violation(solution) > 1e-4
    optimum = refined_optimum(problem, solution)
    assert problem.violation(optimum) < 1e-10
    np.testing.assert_allclose(optimum, solution, atol=1e-3)
    weights = np.where(np.isfinite(problem.slack_weights), problem.slack_weights, 0.0)
    pull = weights * np.maximum(problem.excess(optimum), 0.0) * problem.passed(optimum)
    soft, bounded = np.isfinite(problem.slack_weights), problem.bounded_variables
    rows = np.vstack((np.eye(bounded, len(optimum)), problem.rows))
    gradient = problem.hessian @ optimum + problem.gradient + rows[soft].T @ pull[soft]
    laws = rows[~soft & (problem.lower == problem.upper)]
    left = gradient + laws.T @ np.linalg.lstsq(laws.T, -gradient)[0]
    assert np.abs(left).max() < 1e-6 * np.abs(gradient).max()


def test_limits_that_the_optimum_does_not_pass_are_no_active_set():
    """Minimise (x - 1)² / 2 with a soft x <= 0: at x = 2 it seems active, at x = -1 it seems not to be."""
    problem = QuadraticProgram(np.eye(1), -np.ones(1), np.zeros((0, 1)), -np.full(1, 1e30), np.zeros(1), np.ones(1))
    np.testing.assert_allclose(refined_optimum(problem, np.array([2.0])), [0.5], atol=1e-12)
    assert refined_optimum(problem, np.array([-1.0])) is None
