"""Run a composed problem: one function call a tick, and a QP where the guess of active limits is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, NoSolutionFound
from gradiva.robot_model import Compiler, FlatFunction
from gradiva.whole_body.guessed_optimum import guessed_optimum
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.qp_solver import DaqpSolver, QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.task_config import Priority

_VIOLATION = 1e-8  # of a guess, in units of the gradient; of a wrench that costs 1e-4 an N² it is 1e-4 N
_RESIDUAL = 1e-6  # of a guess, in units of the gradient: 1e-10 of what soft ground's is
_NAMED_TASKS = 3  # [-] in the error of a parameter without a value
_MET = 1e-8  # of a hard constraint, in its own unit: not what made a problem infeasible


class ComposedProblem:
    """One problem, whose numbers change in every tick.

    Attributes:
        quadratic_program: The data of the last tick, also of one without an answer.
        solution: The last one, in the order and the units of the variables.
        outputs: What was wanted beside the problem, by name; views.
        solver: Asked where the guess of which limits are active is wrong.
        was_solver_asked: Whether it was in the last tick.
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
        self._unset = {key: symbol for key, symbol in parameters.symbols.items() if key not in parameters.constants}
        del self._unset["active_limits"]
        self._composer = composer
        self._groups, self._relaxed_slack_weights = composer.groups, composer.relaxed_slack_weights()
        results = self._function.outputs
        self.outputs = {name: results[name] for name in outputs}
        self.quadratic_program = QuadraticProgram(
            **{name: results[name] for name in problem},
            slack_weights=composer.slack_weights(),
            pattern=composer.pattern(),
        )
        self._guess, self._errors = results["guess"], (results["guess_violation"], results["guess_residual"])
        self._kind = solver
        self.reset()

    def reset(self) -> None:
        """Forget which limits were active: the next tick is answered as the first, to the last digit."""
        self._function.set(active_limits=0.0)
        self.solution = np.zeros(len(self._guess))
        self.was_solver_asked = False
        self.solver = make_solver(self._kind, self._name, self.quadratic_program)

    def evaluate(self, values: Mapping[str, npt.ArrayLike]) -> None:
        """Compute the problem's numbers and ``outputs``, and solve nothing; see `solve`."""
        if self._unset:
            self._note(values)
        self._function.set(**values)
        self._function()

    def solve(self, values: Mapping[str, npt.ArrayLike], relaxed: bool = False) -> NDArray:
        """Return the optimum, shape (variables,).

        Args:
            values: Of the parameters; those not named keep their last value.
            relaxed: Violate what contradicts, but no dynamics constraint, as little as its slack weights ask for.

        Raises:
            NoSolutionFound: Hard constraints contradict each other; the error names the hardest to meet.
            ConfigError: A parameter has no value yet; the error names it and the tasks that depend on it.
        """
        self.evaluate(values)
        if self._unset:
            raise self._without_values()
        self.solution = self._relaxed_solution() if relaxed else self._exact_solution()
        return self.solution

    def violations(self) -> dict[str, float]:
        """Return by how much the last solution violates each group of constraints, in the units of the group.

        After a tick without an answer it is held against what was asked then.
        """
        excess = np.maximum(self.quadratic_program.excess(self.solution), 0.0)
        return {group.name: float(excess[group.span].max()) for group in self._groups}

    def _note(self, names: Iterable[str]) -> None:
        """Note which parameters have a value from now on: those not named in a later tick keep it."""
        for name in names:
            self._unset.pop(name, None)

    def _without_values(self) -> ConfigError:
        """Return the error for parameters that were never set, which the function would take for zero."""
        fields = (f"'{name}' (of {self._tasks_with(symbol)})" for name, symbol in self._unset.items())
        return ConfigError(f"{self._name}: the first tick sets no value of {', '.join(fields)}; zero is none")

    def _tasks_with(self, symbol: cs.SX) -> str:
        tasks = self._composer.demands_on(symbol)
        more = len(tasks) - _NAMED_TASKS
        return ", ".join(tasks[:_NAMED_TASKS]) + (f" and {more} more" if more > 0 else "") or "no task"

    def _exact_solution(self) -> NDArray:
        violation, residual = self._errors
        if violation[0] <= _VIOLATION and residual[0] <= _RESIDUAL:  # never with NaN
            self.was_solver_asked = False
            return self._guess.copy()
        self.was_solver_asked = True
        try:
            solution = self.solver.solve()
        except NoSolutionFound as error:
            raise self._named(error) from None
        self._function.set(active_limits=self._active(solution))
        return solution

    def _active(self, solution: NDArray) -> NDArray:
        """Return which limits a solution passes: 1 the upper one, -1 the lower one; see ``guessed_optimum``."""
        p = self.quadratic_program
        values = p.values(solution)
        return np.subtract(values > p.upper, values < p.lower, dtype=np.float64)

    def _relaxed_solution(self) -> NDArray:
        return DaqpSolver(f"relaxed {self._name}", self.quadratic_program.relaxed(self._relaxed_slack_weights)).solve()

    def _named(self, error: NoSolutionFound) -> NoSolutionFound:
        """Return the error with the name of the hard constraints that cost most in the relaxed problem, if any do."""
        try:
            excess = np.maximum(self.quadratic_program.excess(self._relaxed_solution()) - _MET, 0.0)
        except NoSolutionFound:
            return error
        hard = [group for group in self._groups if group.priority is Priority.HARD and not group.is_law]
        costs = {group.name: group.slack_weight * float(np.sum(excess[group.span] ** 2)) for group in hard}
        violated = [name for name in costs if costs[name] > 0.0]
        return NoSolutionFound(error.problem, error.status, max(violated, key=lambda name: costs[name], default=None))


def _shared(outputs: Mapping[str, cs.SX]) -> dict[str, cs.SX]:
    """Return the expressions with what occurs twice in them computed once."""
    return dict(zip(outputs, cs.cse(list(outputs.values())), strict=True))
