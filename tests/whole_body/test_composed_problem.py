"""A composed problem in three variables, tick after tick."""

from types import SimpleNamespace

import casadi as cs
import numpy as np
import pytest

from gradiva.common import ConfigError, NoSolutionFound
from gradiva.robot_model import interpreted
from gradiva.whole_body import Priority, SolverName
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.reference_symbols import Parameters, ReferenceSymbols


class Toy:
    """Variables that want to be where the input ``wanted`` is; the first two may have bounds."""

    def __init__(self, weight=1.0):
        self.x, self.parameters = cs.SX.sym("x", 3), Parameters()
        self.composer = QpComposer(self.x, bounded=2)
        self.composer.cost("place", self.x - self.parameters.symbol("wanted", 3), cs.SX(weight))
        self.composer.limit("sum", cs.sum1(self.x), cs.SX(-1e4), cs.SX(1e4), Priority.HARD, 1.0)

    def problem(self, solver=SolverName.DAQP):
        outputs = {"doubled": 2.0 * self.parameters.symbols["wanted"]}
        robot = SimpleNamespace(model=SimpleNamespace(description=SimpleNamespace(name="robot")))
        symbols = {"parameters": self.parameters, "reference": ReferenceSymbols(0, self.parameters, contacts=())}
        body = SimpleNamespace(dynamics=robot, **symbols)
        return ComposedProblem("toy", body, self.composer, solver, interpreted, outputs)


@pytest.fixture
def toy():
    return Toy()


def test_outputs_come_with_the_optimum(toy):
    problem = toy.problem()
    np.testing.assert_allclose(problem.solve({"wanted": [1.0, 2.0, 3.0]}), [1.0, 2.0, 3.0], atol=1e-5)
    np.testing.assert_allclose(problem.outputs["doubled"], [2.0, 4.0, 6.0])


@pytest.mark.parametrize("solver", list(SolverName))
def test_a_hard_bound_holds_in_every_tick(toy, solver):
    toy.composer.bound("first", 0, cs.SX(-1.0), cs.SX(1.0), Priority.HARD, 2.0)
    problem = toy.problem(solver)
    for wanted in (3.0, 3.0, 1.0 + 1e-7, 4.0, 4.0, -0.5, -3.0, -3.0, 3.0):
        first = problem.solve({"wanted": [wanted, 0.0, 0.0]})[0]
        assert first == pytest.approx(np.clip(wanted, -1.0, 1.0), abs=1e-5)


@pytest.mark.parametrize("solver", list(SolverName))
def test_a_soft_bound_costs_its_slack_weight_in_every_tick(toy, solver):
    toy.composer.bound("first", 0, cs.SX(-1.0), cs.SX(1.0), Priority.SOFT, 3.0)
    problem = toy.problem(solver)
    for wanted, optimum in ((3.0, 1.5), (3.0, 1.5), (5.0, 2.0), (0.5, 0.5), (-3.0, -1.5), (3.0, 1.5)):
        assert problem.solve({"wanted": [wanted, 0.0, 0.0]})[0] == pytest.approx(optimum, abs=1e-9)
        assert problem.violations()["first"] == pytest.approx(max(abs(optimum) - 1.0, 0.0), abs=1e-9)


def test_what_hardly_costs_is_at_its_optimum_whether_the_solver_is_asked_or_not():
    toy = Toy(weight=1e-3)
    toy.composer.bound("first", 0, cs.SX(-1.0), cs.SX(1.0), Priority.SOFT, 3e-3)
    problem, asked = toy.problem(), []
    for wanted, optimum in ((0.5, 0.5), (3.0, 1.5), (5.0, 2.0), (-3.0, -1.5), (0.5, 0.5)):
        solution = problem.solve({"wanted": [wanted, 40.0, -70.0]})
        asked.append(problem.was_solver_asked)
        np.testing.assert_allclose(solution, [optimum, 40.0, -70.0], atol=1e-7)
    assert asked == [False, True, False, True, True]


def contradicted(toy, *, soft_slack_weight=1.0):
    """Hard: first + second = 0, and each of them 4 or 6; a soft limit of the third is missed by far."""
    toy.composer.law("law", toy.x[0] + toy.x[1])
    toy.composer.task("first", toy.x[0] - toy.parameters.symbol("at"), Priority.HARD, cs.SX(1.0), 1.0)
    toy.composer.task("second", toy.x[1] - toy.parameters.symbols["at"], Priority.HARD, cs.SX(1.0), 10.0)
    toy.composer.limit("third", toy.x[2], cs.SX(-1.0), cs.SX(1.0), Priority.SOFT, soft_slack_weight)
    return toy.problem()


def test_a_contradiction_names_the_hard_task_of_the_largest_cost(toy):
    problem = contradicted(toy, soft_slack_weight=1e3)
    with pytest.raises(NoSolutionFound, match=r"toy: .* the hardest to meet is 'first'") as caught:
        problem.solve({"wanted": [0.0, 0.0, 1e3], "at": 4.0})
    assert caught.value.task == "first"


def test_where_no_hard_task_has_a_cost_none_is_named(toy, monkeypatch):
    problem = contradicted(toy)

    class Tired:
        def solve(self):
            raise NoSolutionFound("toy", "iteration limit")

    monkeypatch.setattr(problem, "solver", Tired())
    with pytest.raises(NoSolutionFound) as caught:
        problem.solve({"wanted": [0.0, 0.0, 1e3], "at": 0.0})  # the soft limit is passed: the solver is asked
    assert (caught.value.status, caught.value.task) == ("iteration limit", None)


def test_a_tick_without_an_answer_leaves_the_last_solution(toy):
    problem = contradicted(toy)
    before = problem.solve({"wanted": [0.0, 0.0, 3.0], "at": 0.0})
    assert problem.violations()["third"] == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(NoSolutionFound):
        problem.solve({"wanted": [0.0, 0.0, 9.0], "at": 4.0})
    np.testing.assert_array_equal(problem.solution, before)


def test_relaxed_it_comes_as_near_as_the_laws_allow(toy):
    problem = contradicted(toy)
    solution = problem.solve({"wanted": [0.0, 0.0, 0.0], "at": 4.0}, relaxed=True)
    assert solution[0] + solution[1] == pytest.approx(0.0, abs=1e-8)
    assert solution[1] == pytest.approx(36.0 / 13.0, abs=1e-5)  # d/dy y² + ½ (y + 4)² + 5 (y - 4)² = 0
    assert problem.violations()["first"] == pytest.approx(4.0 + 36.0 / 13.0, abs=1e-5)


@pytest.mark.parametrize("relaxed", [False, True])
def test_what_is_not_a_number_has_no_solution(toy, relaxed):
    with pytest.raises(NoSolutionFound):
        contradicted(toy).solve({"wanted": [np.nan, 0.0, 0.0], "at": 0.0}, relaxed)


def test_solved_again_after_it_had_no_answer(toy):
    problem = contradicted(toy)
    with pytest.raises(NoSolutionFound):
        problem.solve({"wanted": [0.0, 0.0, 0.0], "at": 4.0})
    np.testing.assert_allclose(problem.solve({"wanted": [0.0, 0.0, 0.5], "at": 0.0}), [0.0, 0.0, 0.5], atol=1e-5)


@pytest.mark.parametrize("solver", list(SolverName))
def test_after_a_reset_it_answers_to_the_last_digit_as_it_did_at_first(toy, solver):
    toy.composer.bound("first", 0, cs.SX(-1.0), cs.SX(1.0), Priority.SOFT, 3.0)
    problem = toy.problem(solver)
    first = problem.solve({"wanted": [0.9, 0.3, -0.2]}).copy()
    problem.solve({"wanted": [-7.0, 0.3, -0.2]})
    problem.reset()
    assert problem.solve({"wanted": [0.9, 0.3, -0.2]}).tolist() == first.tolist()


def test_a_guess_is_held_against_the_optimum_in_units_of_the_gradient_however_heavy_a_limit_is(toy):
    toy.composer.bound("first", 0, cs.SX(-1.0), cs.SX(1.0), Priority.SOFT, 1e6)
    problem = toy.problem()
    for wanted in (1.5, 1.0 - 1e-3, 1.0 + 1e-3, 1.5):  # a limit that stays guessed active pulls by 1e-9 of itself only
        optimum = wanted if wanted < 1.0 else (wanted + 1e6) / (1.0 + 1e6)
        assert problem.solve({"wanted": [wanted, 0.0, 0.0]})[0] == pytest.approx(optimum, abs=1e-5)


def test_a_parameter_that_was_never_set_is_an_error_of_the_first_tick_that_names_it_and_its_tasks(toy):
    toy.composer.task("first", toy.x[0] - toy.parameters.symbol("height"), Priority.HARD, cs.SX(1.0), 1.0)
    toy.composer.bound("second", 1, cs.SX(-1.0), toy.parameters.symbol("reach"), Priority.SOFT, 1.0)
    problem = toy.problem()
    with pytest.raises(ConfigError, match=r"toy: .* 'height' \(of first\), 'reach' \(of second\)"):
        problem.solve({"wanted": [1.0, 2.0, 3.0]})
    with pytest.raises(ConfigError, match=r"no value of 'reach' \(of second\);"):
        problem.solve({"height": 0.5})
    assert problem.solve({"reach": 1.5})[:2] == pytest.approx([0.5, 1.75], abs=1e-5)
    assert problem.solve({"reach": 1.0})[1] == pytest.approx(1.5, abs=1e-5)  # the others keep their values
