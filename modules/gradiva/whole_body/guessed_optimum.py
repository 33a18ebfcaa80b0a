r"""The optimum of a whole-body problem where its active limits are known: one factorisation, no iterations.

In most ticks of a walk no limit is active, or the same as in the tick before. Then the optimum solves

.. math::
    \begin{bmatrix} H + C^\top W C & E^\top \\ E & -D \end{bmatrix} \begin{bmatrix} x \\ y \end{bmatrix} =
    \begin{bmatrix} C^\top W b - g \\ e \end{bmatrix}

with the equalities :math:`E x = e`, which :math:`D` takes out where they are not asked for (1 there, else 0), and the
slack weights :math:`W` of the soft limits :math:`C x = b` that are active. Its structure never changes: a sparse
:math:`L \Delta L^\top`, in symbols, is a tenth of the work of a solver. Beside the optimum stands by how much the guess
is wrong; where that is too much, the solver is asked.

**Tolerance.** A soft limit that is violated by v pulls with the force :math:`w v` on the gradient, and w is large (1e4
to 1e6) where wrenches cost little (1e-4 an N²): a violation of 1e-8 in the constraint's own unit is a newton of foot
force. So violations count in units of the gradient, :math:`w v`, as the residual does.
"""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.common import NDArray
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.task_config import Priority

_SOFTENING = 1e-8  # of equalities: no pivot is zero, whatever comes first; refinement takes its effect out
_FEW = 12  # [-] variables in a constraint that may be guessed active: bounds and wrench cones; more fill the matrix


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
    """Return the solution after one step of iterative refinement, and its residual."""
    variables = matrix.shape[0] - equalities
    softening = cs.vertcat(cs.SX(variables, 1), _SOFTENING * cs.SX.ones(equalities))
    factors = cs.ldl(matrix - cs.diag(softening), True)
    rough = cs.ldl_solve(right, *factors)
    solution = rough + cs.ldl_solve(right - matrix @ rough, *factors)
    return solution, right - matrix @ solution


def _violations(problem: dict[str, cs.SX], values: cs.SX, active: cs.SX) -> cs.SX:
    """Return by how much each constraint contradicts the guess: active limits have to be passed, others must not be."""
    over, under = values - problem["upper"], problem["lower"] - values
    over, under = cs.if_else(active > 0.0, -over, over), cs.if_else(active < 0.0, -under, under)
    return cs.fmax(over, under)
