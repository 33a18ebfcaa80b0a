"""A composed problem of whole-body control by torque, made to run: one function call and one QP a tick."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, NoSolutionFound
from gradiva.robot_model import Compiler, FlatFunction
from gradiva.whole_body.guessed_optimum import guessed_optimum
from gradiva.whole_body.problem_draft import ProblemDraft
from gradiva.whole_body.qp_composer import affine
from gradiva.whole_body.qp_solver import DaqpSolver, QuadraticProgram, SolverName, make_solver

_MISS = 1e-8  # by which a guess may miss constraints, in their units
_RESIDUAL = 1e-6  # and the optimum, in units of the gradient: 1e-10 of what soft ground's is


class TorqueProblem:
    """Accelerations and torques of one tick.

    Attributes:
        solver: Asked where the guess of which constraints bind is wrong.
        quadratic_program: The data of the last solution.
        solution: The last one, in the order and the units of ``unknowns``.
        outputs: What the draft wanted beside the problem; views.
    """

    def __init__(self, name: str, draft: ProblemDraft, solver: SolverName, compiler: Compiler) -> None:
        """Build, and compile, the function; ``name`` appears in errors."""
        self._name = name
        unknowns, composer = draft.unknowns, draft.composer
        dynamics, parameters = draft.dynamics, draft.parameters
        guess = guessed_optimum(composer, parameters)
        rows, offset = affine(unknowns.torques, unknowns.variables)
        self._function = FlatFunction(
            f"{name.replace(' ', '_')}_{dynamics.model.description.name}",
            inputs={
                "base_position": dynamics.base_position,
                "base_rotation": dynamics.base_rotation,
                "base_twist": dynamics.base_twist,
                "joint_positions": dynamics.joint_positions,
                "joint_velocities": dynamics.joint_velocities,
                **parameters.symbols,
            },
            outputs=_shared(
                {
                    **composer.outputs(),
                    **guess,
                    "torque_rows": rows,
                    "torque_offset": offset,
                    **draft.outputs,
                }
            ),
            compiler=compiler,
        )
        self._function.set(**parameters.constants)
        self.outputs = {name: self._function.outputs[name] for name in draft.outputs}
        self._joints = dynamics.joints
        self._groups = composer.groups
        self._relaxed_prices = composer.relaxed_prices()
        out = self._function.outputs
        self._torque_rows, self._torque_offset = out["torque_rows"], out["torque_offset"]
        self.quadratic_program = QuadraticProgram(
            hessian=out["hessian"],
            gradient=out["gradient"],
            rows=out["rows"],
            lower=out["lower"],
            upper=out["upper"],
            prices=composer.prices(),
            pattern=composer.pattern(),
        )
        self.solution = np.zeros(len(self.quadratic_program.gradient))
        self.solver = make_solver(solver, name, self.quadratic_program)
        self._guess, self._guess_misses = out["guess"], (out["guess_miss"], out["guess_residual"])
        self._bounds = slice(0, self.quadratic_program.bounded_variables)

    def solve(self, values: Mapping[str, npt.ArrayLike], relaxed: bool = False) -> tuple[NDArray, NDArray]:
        """Return ν̇, shape (6 + n,), and τ, [N·m], shape (n,), at the optimum.

        Args:
            values: Of the function's inputs; those not named keep their last value.
            relaxed: Come as near as the laws of nature allow to what contradicts.

        Raises:
            NoSolutionFound: What is hard contradicts, or is met badly; the error names what was the hardest to meet.
        """
        self._function.set(**values)
        self._function()
        self.solution = self._relaxed_solution() if relaxed else self._exact_solution()
        acceleration = np.concatenate((self.solution[-6:], self.solution[: self._joints]))
        return acceleration, self._torque_rows @ self.solution + self._torque_offset

    def missed(self) -> dict[str, float]:
        """Return by how much the last solution misses each group of constraints, in the units of the group."""
        excess = np.maximum(self.quadratic_program.excess(self.solution), 0.0)
        return {group.name: float(np.max(excess[group.span])) for group in self._groups}

    def _exact_solution(self) -> NDArray:
        miss, residual = self._guess_misses
        if miss[0] <= _MISS and residual[0] <= _RESIDUAL:  # never with NaN
            return self._guess.copy()
        try:
            solution = self.solver.solve()
        except NoSolutionFound as error:
            raise self._named(error) from None
        self._function.set(pressed=self._pressed(solution))
        return solution

    def _pressed(self, solution: NDArray) -> NDArray:
        """Return which bounds a solution passes: 1 the upper one, -1 the lower one."""
        values, p = solution[self._bounds], self.quadratic_program
        return np.subtract(values > p.upper[self._bounds], values < p.lower[self._bounds], dtype=np.float64)

    def _relaxed_solution(self) -> NDArray:
        return DaqpSolver(f"relaxed {self._name}", self.quadratic_program.relaxed(self._relaxed_prices)).solve()

    def _named(self, error: NoSolutionFound) -> NoSolutionFound:
        """Return the error with the name of the constraints that cost most where all may be missed."""
        try:
            excess = np.maximum(self.quadratic_program.excess(self._relaxed_solution()), 0.0)
        except NoSolutionFound:
            return error
        costs = {group.name: group.price * float(np.sum(excess[group.span] ** 2)) for group in self._groups}
        return NoSolutionFound(error.problem, error.status, max(costs, key=lambda name: costs[name]))


def _shared(outputs: Mapping[str, cs.SX]) -> dict[str, cs.SX]:
    """Return the expressions with what occurs twice in them computed once."""
    return dict(zip(outputs, cs.cse(list(outputs.values())), strict=True))
