r"""Compose a quadratic program from tasks and limits, with its optimum for a guess of the limits that are active.

**Composition.** Every task or limit is an expression that is affine in the variables. As a cost it is
:math:`\tfrac12 \| r(x) \|^2_\Lambda`, as a constraint :math:`l \le r(x) \le u`. A soft constraint
may be violated: each square of its violation costs half its slack weight.

**Guess.** In most ticks of a walk no limit is active, or the same as in the tick before. Then the optimum solves

.. math::
    \begin{bmatrix} H + C^\top W C & E^\top \\ E & -D \end{bmatrix} \begin{bmatrix} x \\ y \end{bmatrix} =
    \begin{bmatrix} C^\top W b - g \\ e \end{bmatrix}

with the equalities :math:`E x = e`, which :math:`D` takes out where they are inactive (1 there, else 0), and the
slack weights :math:`W` of the soft limits :math:`C x = b` that are active. Its structure never changes: a sparse
:math:`L \Delta L^\top`, in symbols, is a tenth of the work of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray
from gradiva.whole_body.reference_symbols import Parameters

UNBOUNDED = 1e30  # both solvers take it for infinity
REGULARISATION = 1e-6  # [-] keeps H positive definite: no pivot is zero, for the solver neither
_SOFTENING = 1e-8  # of equalities: no pivot is zero, whatever comes first
_REFINEMENTS = 2  # [-] after which neither is seen in a torque, where torques alone decide about the wrenches
_FEW = 12  # [-] variables in a constraint that may be guessed active: bounds and wrench cones; more fill the matrix


class Priority(StrEnum):
    """Priority of a task or a limit."""

    HARD = "hard"
    """A constraint: no answer violates it. Relaxed, it is as a soft one."""
    SOFT = "soft"
    """Each square of the residual or of the violation costs its weight."""
    OFF = "off"
    """Not part of the problem."""


@dataclass(frozen=True, slots=True)
class Equality:
    """Rows of x that should be zero with their offset.

    Attributes:
        rows: (m, n).
        offset: (m, 1).
        activity: 1 where this holds, 0 where it is not asked for.
    """

    rows: cs.SX
    offset: cs.SX
    activity: cs.SX | float


@dataclass(frozen=True, slots=True)
class ConstraintGroup:
    """Constraints that belong together.

    Attributes:
        name: In errors and in ``violations()``.
        span: Where they are among all constraints: bounds of variables first, then rows.
        slack_weight: Of a violation's square where it is soft or relaxed, [-].
        priority: Hard or soft; dynamics are hard and never relaxed.
        is_law: Whether it is a dynamics constraint, which nothing relaxes.
    """

    name: str
    span: slice
    slack_weight: float
    priority: Priority
    is_law: bool


class QpComposer:
    """Collects costs and constraints of one problem.

    Attributes:
        groups: The constraints, in the order in which they were asked for.
        equalities: What of the rows is to be zero.
        freedom: Of each variable, 0 where it is fixed at zero, else 1.
    """

    def __init__(self, variables: cs.SX, bounded: int) -> None:
        """Begin with nothing.

        Args:
            variables: x, in the solver's order.
            bounded: How many of the first have bounds.
        """
        size = variables.numel()
        self._variables = variables
        self._bounded = bounded
        self._hessian = cs.SX.zeros(size, size)
        self._gradient = cs.SX(size, 1)
        self._lower = -UNBOUNDED * cs.SX.ones(bounded)
        self._upper = UNBOUNDED * cs.SX.ones(bounded)
        self._rows = cs.SX(0, size)
        self.groups: list[ConstraintGroup] = []
        self.equalities: list[Equality] = []
        self.freedom = cs.SX.ones(size)
        self._demands: list[tuple[str, cs.SX]] = []

    def cost(self, name: str, residual: cs.SX, weight: cs.SX) -> None:
        """Ask softly for a residual of zero; ``weight`` is a number, or one an entry, [-]."""
        self._demands.append((name, cs.vertcat(residual, weight)))
        rows, offset = affine(residual, self._variables)
        weighted = cs.diag(weight * cs.SX.ones(residual.numel())) @ rows
        self._hessian += weighted.T @ rows
        self._gradient += weighted.T @ offset

    def law(self, name: str, residual: cs.SX) -> None:
        """Ask for a residual of zero in every case."""
        self._equal(name, residual, 1.0, 0.0, is_law=True)

    def task(
        self,
        name: str,
        residual: cs.SX,
        priority: Priority,
        weight: cs.SX,
        slack_weight: float,
        activity: cs.SX | float = 1.0,
    ) -> None:
        """Ask for a residual of zero, as binding as configured.

        Args:
            name: In errors and in ``violations()``.
            residual: Affine in the variables.
            priority: Hard or soft; nothing happens when off.
            weight: When soft; a number, or one an entry.
            slack_weight: The same as a number, of a hard task that is relaxed.
            activity: 1 or 0; at 0 the task is not asked for.
        """
        if priority is Priority.SOFT:
            self.cost(name, residual, activity * weight)
        elif priority is Priority.HARD:
            self._equal(name, residual, activity, slack_weight)

    def limit(
        self, name: str, value: cs.SX, lower: cs.SX, upper: cs.SX, priority: Priority, slack_weight: float
    ) -> None:
        """Keep values between bounds, as binding as configured."""
        if priority is not Priority.OFF:
            self._constrain(name, value, lower, upper, priority, slack_weight)

    def bound(
        self,
        name: str,
        first: int,
        lower: cs.SX,
        upper: cs.SX,
        priority: Priority,
        slack_weight: float,
        is_law: bool = False,
    ) -> None:
        """Keep the variables from ``first`` on between bounds, as binding as configured."""
        if priority is Priority.OFF:
            return
        span = slice(first, first + lower.numel())
        assert span.stop <= self._bounded, f"{name}: only {self._bounded} variables may have bounds"
        self._lower[span], self._upper[span] = lower, upper
        self._demands.append((name, cs.vertcat(lower, upper)))
        self.groups.append(ConstraintGroup(name, span, slack_weight, priority, is_law))

    def fix(self, name: str, first: int, count: int, activity: cs.SX) -> None:
        """Keep ``count`` variables from ``first`` on at zero while ``activity`` is 1, as a dynamics constraint."""
        reach = UNBOUNDED * (1.0 - activity) * cs.SX.ones(count)
        self.bound(name, first, -reach, reach, Priority.HARD, 0.0, is_law=True)
        self.freedom[first : first + count] = 1.0 - activity

    def outputs(self) -> dict[str, cs.SX]:
        """Return the expressions of the problem: hessian, gradient, rows, lower and upper."""
        triangle = cs.tril(self._hessian)
        return {
            "hessian": triangle + cs.tril(self._hessian, False).T,  # one triangle is computed, both are read
            "gradient": self._gradient,
            "rows": self._rows,
            "lower": self._lower,
            "upper": self._upper,
        }

    def demands_on(self, symbol: cs.SX) -> list[str]:
        """Return the names of the costs and constraints that depend on a symbol, each once."""
        return list(dict.fromkeys(name for name, value in self._demands if cs.depends_on(value, symbol)))

    def bounded_rows(self) -> cs.SX:
        """Return the rows of the variables that may have bounds, (bounded, n)."""
        return cs.SX.eye(self._variables.numel())[: self._bounded, :]

    def pattern(self) -> npt.NDArray[np.bool_]:
        """Return which entries of the rows are ever used, shape (m, n)."""
        pattern = np.zeros(self._rows.shape, dtype=bool)
        pattern[self._rows.sparsity().get_triplet()] = True
        return pattern

    def slack_weights(self) -> NDArray:
        """Return the slack weight of each constraint, infinite for hard ones, shape (bounded + rows,)."""
        slack_weights = np.full(self._lower.numel(), np.inf)
        for group in self.groups:
            if group.priority is Priority.SOFT:
                slack_weights[group.span] = group.slack_weight
        return slack_weights

    def relaxed_slack_weights(self) -> NDArray:
        """Return the same with every constraint relaxable that is no dynamics constraint."""
        slack_weights = np.full(self._lower.numel(), np.inf)
        for group in self.groups:
            if not group.is_law:
                slack_weights[group.span] = group.slack_weight
        return slack_weights

    def _equal(
        self, name: str, residual: cs.SX, activity: cs.SX | float, slack_weight: float, is_law: bool = False
    ) -> None:
        rows, offset = affine(residual, self._variables)
        self.equalities.append(Equality(rows, offset, activity))
        slack = UNBOUNDED * (1.0 - activity)
        self._constrain(
            name, residual, -slack * cs.SX.ones(residual.numel()), slack, Priority.HARD, slack_weight, is_law
        )

    def _constrain(
        self,
        name: str,
        value: cs.SX,
        lower: cs.SX,
        upper: cs.SX | float,
        priority: Priority,
        slack_weight: float,
        is_law: bool = False,
    ) -> None:
        rows, offset = affine(value, self._variables)
        self._demands.append((name, cs.vertcat(value, lower, upper)))
        first = self._lower.numel()
        self._rows = cs.vertcat(self._rows, rows)
        self._lower = cs.vertcat(self._lower, lower - offset)
        self._upper = cs.vertcat(self._upper, upper - offset)
        self.groups.append(ConstraintGroup(name, slice(first, self._lower.numel()), slack_weight, priority, is_law))


def affine(expression: cs.SX, variables: cs.SX) -> tuple[cs.SX, cs.SX]:
    """Return rows and offset of ``expression`` = rows · x + offset."""
    return cs.jacobian(expression, variables), cs.substitute(expression, variables, cs.SX.zeros(variables.numel()))


def guessed_optimum(composer: QpComposer, parameters: Parameters) -> dict[str, cs.SX]:
    """Return the optimum for a guess, as expressions.

    ``parameters`` gets the input ``active_limits``: of each constraint 1 where its upper limit is active, -1 where the
    lower one is, else 0. It is read of soft constraints with few variables alone.

    Returns:
        ``guess``, (n, 1); ``guess_violation``, the largest of what the guess of active limits has wrong: of soft limits
        in units of the gradient (violation times slack weight), of hard ones in their own; and ``guess_residual``, the
        norm of the residual of the equations above, in units of the gradient, a NaN where they have no solution.
    """
    problem = composer.outputs()
    constraints = cs.vertcat(composer.bounded_rows(), problem["rows"])
    weights = _guessed_slack_weights(composer, constraints)
    active = cs.DM(weights > 0.0) * parameters.symbol("active_limits", len(weights))
    stiffnesses = parameters.constant("active_limits.slack_weights", weights) * cs.fabs(active)
    limits = cs.if_else(active > 0.0, problem["upper"], problem["lower"])
    chosen = [int(row) for row in np.flatnonzero(weights)]
    rows = constraints[chosen, :]
    stiffness, pull = rows.T @ cs.diag(stiffnesses[chosen]) @ rows, rows.T @ (stiffnesses * limits)[chosen]
    matrix, right = _equations(composer, stiffness, pull)
    solution, residual = _solved(matrix, right, sum(one.offset.numel() for one in composer.equalities))
    guess = solution[: problem["gradient"].numel()]
    units = parameters.constant("active_limits.units", _gradient_units(composer))
    violation = cs.mmax(units * _violations(problem, constraints @ guess, active))
    return {"guess": guess, "guess_violation": violation, "guess_residual": cs.norm_2(residual)}


def _guessed_slack_weights(composer: QpComposer, constraints: cs.SX) -> NDArray:
    """Return the slack weight of each constraint, zero for those that are hard or have many variables."""
    weights = np.zeros(constraints.shape[0])
    for group in composer.groups:
        rows = constraints[group.span, :]
        if group.priority is Priority.SOFT and rows.nnz() <= _FEW * rows.shape[0]:
            weights[group.span] = group.slack_weight
    return weights


def _gradient_units(composer: QpComposer) -> NDArray:
    """Return what a unit of violation of each constraint adds to the gradient: its slack weight; 1 for hard ones."""
    weights = composer.slack_weights()
    return np.where(np.isfinite(weights), weights, 1.0)


def _equations(composer: QpComposer, stiffness: cs.SX, pull: cs.SX) -> tuple[cs.SX, cs.SX]:
    """Return the matrix and the right side; fixed variables have an equation of their own, x = 0."""
    problem, free = composer.outputs(), cs.diag(composer.freedom)
    hessian = free @ (problem["hessian"] + stiffness) @ free + cs.diag(1.0 - composer.freedom)
    rows, offset, idle = cs.SX(0, free.shape[0]), cs.SX(0, 1), cs.SX(0, 1)
    for one in composer.equalities:
        rows = cs.vertcat(rows, one.activity * one.rows @ free)
        offset = cs.vertcat(offset, one.activity * one.offset)
        idle = cs.vertcat(idle, (1.0 - one.activity) * cs.SX.ones(one.offset.numel()))
    matrix = cs.blockcat([[hessian, rows.T], [rows, -cs.diag(idle)]])
    return cs.sparsify(matrix), cs.vertcat(free @ (pull - problem["gradient"]), -offset)


def _solved(matrix: cs.SX, right: cs.SX, equalities: int) -> tuple[cs.SX, cs.SX]:
    """Return the solution and its residual; iterative refinement takes out what keeps the pivots from zero."""
    variables = matrix.shape[0] - equalities
    softening = cs.vertcat(-REGULARISATION * cs.SX.ones(variables), _SOFTENING * cs.SX.ones(equalities))
    factors = cs.ldl(matrix - cs.diag(softening), True)
    solution, residual = cs.SX.zeros(right.shape), right
    for _ in range(1 + _REFINEMENTS):
        solution = solution + cs.ldl_solve(residual, *factors)
        residual = right - matrix @ solution
    return solution, residual


def _violations(problem: dict[str, cs.SX], values: cs.SX, active: cs.SX) -> cs.SX:
    """Return by how much each constraint contradicts the guess: active limits have to be passed, others must not be."""
    over, under = values - problem["upper"], problem["lower"] - values
    over, under = cs.if_else(active > 0.0, -over, over), cs.if_else(active < 0.0, -under, under)
    return cs.fmax(over, under)
