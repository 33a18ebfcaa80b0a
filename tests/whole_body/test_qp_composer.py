import casadi as cs
import numpy as np
import pytest

from gradiva.robot_model import FlatFunction
from gradiva.whole_body import Priority, QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.qp_composer import UNBOUNDED, QpComposer


def solved(composer, variables, solver=SolverName.DAQP, **inputs):
    symbols = {name: symbol for name, (symbol, _) in inputs.items()} or {"nothing": cs.SX.sym("nothing")}
    function = FlatFunction("problem", symbols, composer.outputs())
    function.set(**{name: value for name, (_, value) in inputs.items()})
    outputs = function()
    problem = QuadraticProgram(
        outputs["hessian"],
        outputs["gradient"],
        outputs["rows"].reshape((-1, 2)),
        outputs["lower"],
        outputs["upper"],
        composer.slack_weights(),
        composer.pattern(),
    )
    return make_solver(solver, "toy", problem).solve()


@pytest.fixture
def two():
    """Two variables, of which the first may have bounds, that want to be (3, 4)."""
    variables = cs.SX.sym("x", 2)
    composer = QpComposer(variables, bounded=1)
    composer.cost("place", variables - cs.DM([3.0, 4.0]), cs.SX(1.0))
    return variables, composer


def test_a_cost_is_met_where_nothing_contradicts(two):
    variables, composer = two
    np.testing.assert_allclose(solved(composer, variables), [3.0, 4.0], atol=1e-5)


def test_a_hard_task_is_met_and_a_soft_one_weighed(two):
    variables, composer = two
    composer.task("sum", variables[0] + variables[1] - 1.0, Priority.HARD, cs.SX(1.0), 1.0)
    np.testing.assert_allclose(solved(composer, variables), [0.0, 1.0], atol=1e-5)
    other = QpComposer(variables, bounded=1)
    other.cost("first", variables[0] - 3.0, cs.SX(1.0))
    other.task("first", variables[0], Priority.SOFT, cs.SX(2.0), 2.0)
    assert solved(other, variables)[0] == pytest.approx(1.0, abs=1e-5)


def test_what_is_off_is_not_asked_for(two):
    variables, composer = two
    composer.task("sum", variables[0], Priority.OFF, cs.SX(1.0), 1.0)
    composer.limit("limit", variables[1], cs.SX(0.0), cs.SX(0.0), Priority.OFF, 1.0)
    composer.bound("bound", 0, cs.SX(0.0), cs.SX(0.0), Priority.OFF, 1.0)
    assert composer.groups == []


@pytest.mark.parametrize(("activity", "expected"), [(1.0, [0.0, 4.0]), (0.0, [3.0, 4.0])])
def test_a_task_counts_while_it_is_active(two, activity, expected):
    variables, composer = two
    active = cs.SX.sym("active")
    composer.task("first", variables[0], Priority.HARD, cs.SX(1.0), 1.0, active)
    np.testing.assert_allclose(solved(composer, variables, active=(active, activity)), expected, atol=1e-5)


@pytest.mark.parametrize("solver", list(SolverName))
def test_a_soft_limit_costs_half_its_slack_weight_times_the_squared_violation(two, solver):
    variables, composer = two
    composer.limit("second", variables[1], cs.SX(-UNBOUNDED), cs.SX(1.0), Priority.SOFT, 2.0)
    composer.bound("first", 0, cs.SX(-UNBOUNDED), cs.SX(0.0), Priority.SOFT, 8.0)
    # d/dx ½ (x - 4)² + (x - 1)² = 0 at x = 2; d/dx ½ (x - 3)² + 4 x² = 0 at x = 1/3
    np.testing.assert_allclose(solved(composer, variables, solver), [1.0 / 3.0, 2.0], atol=1e-5)


def test_constraints_know_where_they_are_and_what_they_cost(two):
    variables, composer = two
    composer.law("law", variables[0])
    composer.limit("limit", variables, cs.SX([0, 0]), cs.SX([1, 1]), Priority.SOFT, 5.0)
    composer.task("task", variables[1], Priority.HARD, cs.SX(1.0), 7.0)
    spans = {group.name: (group.span.start, group.span.stop) for group in composer.groups}
    assert spans == {"law": (1, 2), "limit": (2, 4), "task": (4, 5)}
    np.testing.assert_array_equal(composer.slack_weights(), [np.inf, np.inf, 5.0, 5.0, np.inf])
    np.testing.assert_array_equal(composer.relaxed_slack_weights(), [np.inf, np.inf, 5.0, 5.0, 7.0])


def test_only_the_first_variables_have_bounds(two):
    _, composer = two
    with pytest.raises(AssertionError, match="only 1 variables may have bounds"):
        composer.bound("second", 1, cs.SX(0.0), cs.SX(0.0), Priority.HARD, 1.0)


def test_the_pattern_marks_the_used_entries(two):
    variables, composer = two
    composer.limit("second", variables[1], cs.SX(0.0), cs.SX(1.0), Priority.HARD, 1.0)
    np.testing.assert_array_equal(composer.pattern(), [[False, True]])
