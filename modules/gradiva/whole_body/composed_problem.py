"""A composed problem made to run: one function call a tick, and a QP where the guess of what binds is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, NoSolutionFound
from gradiva.robot_model import Compiler, FlatFunction
from gradiva.whole_body.guessed_optimum import guessed_optimum
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.qp_solver import DaqpSolver, QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.task_config import Priority

_MISS = 1e-8  # by which a guess may miss constraints, in their units
_RESIDUAL = 1e-6  # and the optimum, in units of the gradient: 1e-10 of what soft ground's is


class ComposedProblem:
    """One problem, whose numbers change in every tick.

    Attributes:
        quadratic_program: The data of the last tick, also of one without an answer.
        solution: The last one, in the order and the units of the variables.
        outputs: What was wanted beside the problem, by name; views.
        solver: Asked where the guess of which constraints bind is wrong.
    """

    def __init__(
        self,
        name: str,
        robot: str,
        composer: QpComposer,
        parameters: Parameters,
        solver: SolverName,
        compiler: Compiler,
        outputs: Mapping[str, cs.SX],
    ) -> None:
        """Build, and compile, the function.

        Args:
            name: Of the problem; appears in errors.
            robot: Whose it is.
            composer: What is asked.
            parameters: All symbols in it but the variables.
            solver: For the QP.
            compiler: How the function becomes fast.
            outputs: Expressions that are wanted beside the problem.
        """
        self._name = name
        problem, guess = composer.outputs(), guessed_optimum(composer, parameters)
        self._function = FlatFunction(
            f"{name.replace(' ', '_')}_{robot}", parameters.symbols, _shared({**problem, **guess, **outputs}), compiler
        )
        self._function.set(**parameters.constants)
        self._groups, self._relaxed_prices = composer.groups, composer.relaxed_prices()
        results = self._function.outputs
        self.outputs = {name: results[name] for name in outputs}
        self.quadratic_program = QuadraticProgram(
            **{name: results[name] for name in problem}, prices=composer.prices(), pattern=composer.pattern()
        )
        self._guess, self._misses = results["guess"], (results["guess_miss"], results["guess_residual"])
        self._kind = solver
        self.reset()

    def reset(self) -> None:
        """Forget what bound in the last tick: the next one is answered as the first, to the last digit."""
        self._function.set(pressed=0.0)
        self.solution = np.zeros(len(self._guess))
        self.solver = make_solver(self._kind, self._name, self.quadratic_program)

    def evaluate(self, values: Mapping[str, npt.ArrayLike]) -> None:
        """Compute the problem's numbers and ``outputs``, and solve nothing; see `solve`."""
        self._function.set(**values)
        self._function()

    def solve(self, values: Mapping[str, npt.ArrayLike], relaxed: bool = False) -> NDArray:
        """Return the optimum, shape (variables,).

        Args:
            values: Of the parameters; those not named keep their last value.
            relaxed: Come as near as the laws of nature allow to what contradicts.

        Raises:
            NoSolutionFound: What is hard contradicts, or is met badly; the error names what was the hardest to meet.
        """
        self.evaluate(values)
        self.solution = self._relaxed_solution() if relaxed else self._exact_solution()
        return self.solution

    def missed(self) -> dict[str, float]:
        """Return by how much the last solution misses each group of constraints, in the units of the group.

        After a tick without an answer it is held against what was asked then.
        """
        excess = np.maximum(self.quadratic_program.excess(self.solution), 0.0)
        return {group.name: float(excess[group.span].max()) for group in self._groups}

    def _exact_solution(self) -> NDArray:
        miss, residual = self._misses
        if miss[0] <= _MISS and residual[0] <= _RESIDUAL:  # never with NaN
            return self._guess.copy()
        try:
            solution = self.solver.solve()
        except NoSolutionFound as error:
            raise self._named(error) from None
        self._function.set(pressed=self._pressed(solution))
        return solution

    def _pressed(self, solution: NDArray) -> NDArray:
        """Return which limits a solution passes: 1 the upper one, -1 the lower one; see ``guessed_optimum``."""
        p = self.quadratic_program
        values = p.values(solution)
        return np.subtract(values > p.upper, values < p.lower, dtype=np.float64)

    def _relaxed_solution(self) -> NDArray:
        return DaqpSolver(f"relaxed {self._name}", self.quadratic_program.relaxed(self._relaxed_prices)).solve()

    def _named(self, error: NoSolutionFound) -> NoSolutionFound:
        """Return the error with the name of the hard constraints that cost most where they may be missed, if any do."""
        try:
            excess = np.maximum(self.quadratic_program.excess(self._relaxed_solution()) - _MISS, 0.0)
        except NoSolutionFound:
            return error
        hard = [group for group in self._groups if group.priority is Priority.HARD and not group.is_law]
        costs = {group.name: group.price * float(np.sum(excess[group.span] ** 2)) for group in hard}
        missed = [name for name in costs if costs[name] > 0.0]
        return NoSolutionFound(error.problem, error.status, max(missed, key=lambda name: costs[name], default=None))


def _shared(outputs: Mapping[str, cs.SX]) -> dict[str, cs.SX]:
    """Return the expressions with what occurs twice in them computed once."""
    return dict(zip(outputs, cs.cse(list(outputs.values())), strict=True))
