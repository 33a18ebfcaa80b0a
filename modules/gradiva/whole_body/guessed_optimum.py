r"""The optimum of a whole-body problem where it is known which constraints bind: no iterations.

In most ticks of a walk no limit is touched, or the same as in the tick before. Then the optimum solves

.. math::
    \begin{bmatrix} H + C^\top P C & E^\top \\ E & -D \end{bmatrix} \begin{bmatrix} x \\ y \end{bmatrix} =
    \begin{bmatrix} C^\top P b - g \\ e \end{bmatrix}

with the equalities :math:`E x = e`, which :math:`D` takes out where they are not asked for (1 there, else 0), and the
prices :math:`P` of the soft limits :math:`C x = b` that are pressed. Its structure never changes: a sparse
:math:`L \Delta L^\top`, in symbols, is a tenth of the work of a solver. Whether the guess was right is told beside it;
where it was not, a solver is asked.
"""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.common import NDArray
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.task_config import Priority

_SOFTENING = 1e-8  # of equalities: no pivot is zero, whatever comes first; mending the solution takes its effect out
_FEW = 12  # [-] variables in a constraint that may be guessed to bind: bounds and wrench cones; more fill the matrix


def guessed_optimum(composer: QpComposer, parameters: Parameters) -> dict[str, cs.SX]:
    """Return the optimum for a guess, as expressions.

    ``parameters`` gets the input ``pressed``: of each constraint 1 where its upper limit is pressed, -1 where the lower
    one is, else 0. It is asked of those alone that are for sale and have few variables.

    Returns:
        ``guess``, (n, 1); ``guess_miss``, by how much it misses what the guess says of bounds and rows; and
        ``guess_residual``, the norm of what is missing to the equations above, a NaN where they have no solution.
    """
    problem = composer.outputs()
    constraints = cs.vertcat(composer.bounded_rows(), problem["rows"])
    prices = _prices(composer, constraints)
    pressed = cs.DM(prices > 0.0) * parameters.symbol("pressed", len(prices))
    weights = parameters.constant("pressed.prices", prices) * cs.fabs(pressed)
    limits = cs.if_else(pressed > 0.0, problem["upper"], problem["lower"])
    may_be = [int(row) for row in np.flatnonzero(prices)]
    pressing = constraints[may_be, :]
    stiffness, pull = pressing.T @ cs.diag(weights[may_be]) @ pressing, pressing.T @ (weights * limits)[may_be]
    matrix, right = _equations(composer, stiffness, pull)
    solution, residual = _solved(matrix, right, sum(one.offset.numel() for one in composer.equalities))
    guess = solution[: problem["gradient"].numel()]
    miss = _miss(problem, constraints @ guess, pressed)
    return {"guess": guess, "guess_miss": miss, "guess_residual": cs.norm_2(residual)}


def _prices(composer: QpComposer, constraints: cs.SX) -> NDArray:
    """Return the price of each constraint, zero for what is not for sale or has many variables."""
    prices = np.zeros(constraints.shape[0])
    for group in composer.groups:
        rows = constraints[group.span, :]
        if group.priority is Priority.SOFT and rows.nnz() <= _FEW * rows.shape[0]:
            prices[group.span] = group.price
    return prices


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
    """Return the solution, mended once by what it misses, and what it misses then."""
    variables = matrix.shape[0] - equalities
    softening = cs.vertcat(cs.SX(variables, 1), _SOFTENING * cs.SX.ones(equalities))
    factors = cs.ldl(matrix - cs.diag(softening), True)
    rough = cs.ldl_solve(right, *factors)
    solution = rough + cs.ldl_solve(right - matrix @ rough, *factors)
    return solution, right - matrix @ solution


def _miss(problem: dict[str, cs.SX], values: cs.SX, pressed: cs.SX) -> cs.SX:
    """A pressed limit has to be passed, all others must not be."""
    over, under = values - problem["upper"], problem["lower"] - values
    over, under = cs.if_else(pressed > 0.0, -over, over), cs.if_else(pressed < 0.0, -under, under)
    return cs.mmax(cs.fmax(over, under))
