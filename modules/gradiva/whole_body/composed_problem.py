r"""Solve a composed quadratic program in each tick: by its guessed optimum, else by a solver.

Beside the optimum of the guess (``QpComposer``) stands by how much it is wrong; where that is too much, the solver is
called, and what it takes to be active is the next guess: the trace of regularisation that the solver needs is not in
the equations, and they meet constraints to the last digits.

**Tolerance.** A soft limit that is violated by v pulls with the force :math:`w v` on the gradient, and w is large (1e4
to 1e6) where wrenches cost little (1e-4 an N²): a violation of 1e-8 in the constraint's own unit is a newton of foot
force. So violations count in units of the gradient, :math:`w v`, as the residual does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Self

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, NoSolutionFound
from gradiva.robot_model import Compiler, FlatFunction
from gradiva.whole_body.qp_composer import REGULARISATION, Priority, QpComposer, guessed_optimum
from gradiva.whole_body.qp_solver import (
    MET,
    QuadraticProgram,
    SolverName,
    make_solver,
    refined_optimum,
    relaxed_optimum,
)
from gradiva.whole_body.reference_symbols import Values
from gradiva.whole_body.tasks import Body
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_VIOLATION = 1e-8  # of a guess, in units of the gradient; of a wrench that costs 1e-4 an N² it is 1e-4 N
_RESIDUAL = 1e-6  # of a guess, in units of the gradient: 1e-10 of what soft ground's is
_NAMED_TASKS = 3  # [-] in the error of a parameter without a value


class ComposedProblem:
    """One problem, whose numbers change in every tick.

    Attributes:
        reference: Symbols of the references, which read their values.
        quadratic_program: The data of the last tick, also of one without an answer.
        solution: The last one, in the order and the units of the variables.
        outputs: What was wanted beside the problem, by name; views.
        solver: Asked where the guess of which limits are active is wrong.
        was_solver_asked: Whether it was in the last tick.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        composer: QpComposer,
        solver: SolverName,
        compiler: Compiler,
        outputs: Mapping[str, cs.SX],
    ) -> None:
        """Build, and compile, the function.

        Args:
            name: Of the problem; appears in errors.
            body: Robot, references and all other symbols but the variables.
            composer: What is asked.
            solver: For the QP.
            compiler: How the function becomes fast.
            outputs: Expressions that are wanted beside the problem.
        """
        self._name, self.reference, parameters = name, body.reference, body.parameters
        problem, guess = composer.outputs(), guessed_optimum(composer, parameters)
        self._unset = {key: symbol for key, symbol in parameters.symbols.items() if key not in parameters.constants}
        del self._unset["active_limits"]
        title = f"{name.replace(' ', '_')}_{body.dynamics.model.description.name}"
        expressions = {**problem, **guess, **outputs}
        self._function = FlatFunction(title, parameters.symbols, expressions, compiler, simplify=_shared)
        self._function.set(**parameters.constants)
        self._composer = composer
        self._groups, self._relaxed_slack_weights = composer.groups, composer.relaxed_slack_weights()
        self._slack_weights, self._pattern = composer.slack_weights(), composer.pattern()
        self._names, self._kind = (tuple(problem), tuple(outputs)), solver
        self._readers = self.reference.reader(False), self.reference.reader(True)
        self._has_own = self.reference.has_own
        self._bind()

    def twin(self) -> Self:
        """Return the same problem with a memory of its own: inputs, outputs, guess, solver; before its first tick."""
        other = copy(self)
        other._function = self._function.twin()
        other._unset = dict(self._unset)
        other._bind()
        return other

    def reference_values(self, reference: WholeBodyReference, has_feet: bool = False) -> Values:
        """Return the values of a reference by the names of their symbols; None of a quantity that has none.

        Args:
            reference: What the body should do.
            has_feet: Whether those of the feet are among them, as planned.

        Raises:
            ConfigError: A task's own quantity has another shape than declared.
        """
        reader = self._readers[has_feet]
        values: Values = dict(zip(reader.names, reader.read(reference), strict=True))
        return values | self.reference.own_values(reference) if self._has_own else values

    def _bind(self) -> None:
        results, (problem, outputs) = self._function.outputs, self._names
        self.outputs = {name: results[name] for name in outputs}
        self.quadratic_program = QuadraticProgram(
            **{name: results[name] for name in problem},
            slack_weights=self._slack_weights,
            pattern=self._pattern,
            regularisation=REGULARISATION,
        )
        self._guess, self._errors = results["guess"], (results["guess_violation"], results["guess_residual"])
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
            self._note(name for name, value in values.items() if value is not None)
        self._function.write(values)
        self._function()

    def relaxed_slack_weights(self, **rows: tuple[int | slice, float]) -> NDArray:
        """Return the slack weights of a relaxed problem, with others for single rows, shape (constraints,).

        Args:
            rows: By group, its name with underscores: number of the row or rows, and their weight.
        """
        weights: NDArray = self._relaxed_slack_weights.copy()
        for group in self._groups:
            if (name := group.name.replace(" ", "_")) in rows:
                row, weights_of_row = rows[name]
                weights[group.span][row] = weights_of_row
        return weights

    def solve(
        self, values: Mapping[str, npt.ArrayLike], relaxed: bool = False, slack_weights: NDArray | None = None
    ) -> NDArray:
        """Return the optimum, shape (variables,).

        Args:
            values: Of the parameters; those not named keep their last value.
            relaxed: Violate what contradicts, but no dynamics constraint, as little as its slack weights ask for.
            slack_weights: These instead of the configured ones, as ``relaxed_slack_weights`` returns them.

        Raises:
            NoSolutionFound: Hard constraints contradict each other; the error names the hardest to meet.
            ConfigError: A parameter has no value yet; the error names it and the tasks that depend on it.
        """
        self.evaluate(values)
        if self._unset:
            raise self._without_values()
        is_relaxed = relaxed or slack_weights is not None
        self.solution = self._relaxed_solution(slack_weights) if is_relaxed else self._exact_solution(values)
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

    def _exact_solution(self, values: Mapping[str, npt.ArrayLike]) -> NDArray:
        violation, residual = self._errors
        if violation[0] <= _VIOLATION and residual[0] <= _RESIDUAL:  # never with NaN
            self.was_solver_asked = False
            return self._guess.copy()
        if unset := [name for name, value in values.items() if value is None]:  # which the function takes for NaN
            raise ConfigError(f"{self._name}: no value of {', '.join(unset)}, which had one in a tick before")
        self.was_solver_asked = True
        try:
            return self._refined(self.solver.solve())
        except NoSolutionFound as error:
            raise self._named(error) from None

    def _refined(self, solution: NDArray) -> NDArray:
        """Return the optimum of the limits that the solver takes to be active, or a proximal step to it.

        Each takes out what the trace of regularisation does to the solver's solution, which is returned as it is
        where the step has no solution.
        """
        self._function.set(active_limits=self.quadratic_program.passed(solution))
        self._function()
        violation, residual = self._errors
        if violation[0] <= _VIOLATION and residual[0] <= _RESIDUAL:
            return self._guess.copy()
        exact = refined_optimum(self.quadratic_program, solution)
        return self._stepped(solution) if exact is None else exact

    def _stepped(self, solution: NDArray) -> NDArray:
        pull, gradient = REGULARISATION * solution, self.quadratic_program.gradient
        gradient -= pull
        try:
            return self.solver.solve()
        except NoSolutionFound:
            return solution
        finally:
            gradient += pull

    def _relaxed_solution(self, slack_weights: NDArray | None = None) -> NDArray:
        weights = self._relaxed_slack_weights if slack_weights is None else slack_weights
        return relaxed_optimum(f"relaxed {self._name}", self.quadratic_program, weights)

    def _named(self, error: NoSolutionFound) -> NoSolutionFound:
        """Return the error with the name of the hard constraints that cost most in the relaxed problem, if any do."""
        try:
            excess = np.maximum(self.quadratic_program.excess(self._relaxed_solution()) - MET, 0.0)
        except NoSolutionFound:
            return error
        hard = [group for group in self._groups if group.priority is Priority.HARD and not group.is_law]
        costs = {group.name: group.slack_weight * float(np.sum(excess[group.span] ** 2)) for group in hard}
        violated = [name for name in costs if costs[name] > 0.0]
        return NoSolutionFound(error.problem, error.status, max(violated, key=lambda name: costs[name], default=None))


def _shared(outputs: Mapping[str, cs.SX]) -> dict[str, cs.SX]:
    """Return the expressions with what occurs twice in them computed once."""
    return dict(zip(outputs, cs.cse(list(outputs.values())), strict=True))
