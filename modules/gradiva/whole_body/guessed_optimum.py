r"""The optimum of a whole-body problem where it is known which constraints bind: no iterations.

In most ticks of a walk no limit is touched, or the same as in the tick before. Then the optimum solves

.. math::
    \begin{bmatrix} H + P & E^\top \\ E & -D \end{bmatrix} \begin{bmatrix} x \\ y \end{bmatrix} =
    \begin{bmatrix} P b - g \\ e \end{bmatrix}

with the equalities :math:`E x = e`, which :math:`D` takes out where they are not asked for (1 there, else 0), and the
prices :math:`P` of the soft bounds :math:`b` that are pressed. Its structure never changes: a sparse
:math:`L D L^\top`, in symbols, is a tenth of the work of a solver. Whether the guess was right is told beside it; where
it was not, a solver is asked.
"""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import QpComposer
from gradiva.whole_body.task_config import Priority

_SOFTENING = 1e-8  # of equalities: no pivot is zero, whatever comes first; mending the solution takes its effect out


def guessed_optimum(composer: QpComposer, parameters: Parameters) -> dict[str, cs.SX]:
    """Return the optimum for a guess, as expressions.

    ``parameters`` gets the input ``pressed``: of each bounded variable 1 where its upper bound is pressed, -1 where the
    lower one is, else 0.

    Returns:
        ``guess``, (n, 1); ``guess_miss``, by how much it misses what the guess says of bounds and rows; and
        ``guess_residual``, the norm of what is missing to the equations above, a NaN where they have no solution.
    """
    problem = composer.outputs()
    bounded = problem["lower"].numel() - problem["rows"].shape[0]
    pressed = parameters.symbol("pressed", bounded)
    prices = parameters.constant("pressed.prices", _prices_of_bounds(composer, bounded))
    pressing = prices * cs.fabs(pressed)
    matrix, right = _equations(composer, pressing, _pressed_bounds(problem, pressed))
    solution, residual = _solved(matrix, right, sum(one.offset.numel() for one in composer.equalities))
    size = problem["gradient"].numel()
    miss = _miss(problem, solution[:size], pressed, bounded)
    return {"guess": solution[:size], "guess_miss": miss, "guess_residual": cs.norm_2(residual)}


def _prices_of_bounds(composer: QpComposer, bounded: int) -> np.ndarray:
    """Zero for what is not for sale."""
    prices = np.zeros(bounded)
    for group in composer.groups:
        if group.priority is Priority.SOFT and group.span.stop <= bounded:
            prices[group.span] = group.price
    return prices


def _pressed_bounds(problem: dict[str, cs.SX], pressed: cs.SX) -> cs.SX:
    bounds = slice(0, pressed.numel())
    return cs.if_else(pressed > 0.0, problem["upper"][bounds], problem["lower"][bounds])


def _equations(composer: QpComposer, pressing: cs.SX, bounds: cs.SX) -> tuple[cs.SX, cs.SX]:
    """Return the matrix and the right side; fixed variables have an equation of their own, x = 0."""
    problem = composer.outputs()
    free = cs.diag(composer.freedom)
    inner = problem["gradient"].numel() - pressing.numel()
    hessian = problem["hessian"] + cs.diag(cs.vertcat(pressing, cs.SX(inner, 1)))
    hessian = free @ hessian @ free + cs.diag(1.0 - composer.freedom)
    pull = cs.vertcat(pressing * bounds, cs.SX.zeros(inner)) - problem["gradient"]
    rows, offset, idle = cs.SX(0, free.shape[0]), cs.SX(0, 1), cs.SX(0, 1)
    for one in composer.equalities:
        rows = cs.vertcat(rows, one.activity * one.rows @ free)
        offset = cs.vertcat(offset, one.activity * one.offset)
        idle = cs.vertcat(idle, (1.0 - one.activity) * cs.SX.ones(one.offset.numel()))
    matrix = cs.blockcat([[hessian, rows.T], [rows, -cs.diag(idle)]])
    return cs.sparsify(matrix), cs.vertcat(free @ pull, -offset)


def _solved(matrix: cs.SX, right: cs.SX, equalities: int) -> tuple[cs.SX, cs.SX]:
    """Return the solution, mended once by what it misses, and what it misses then."""
    variables = matrix.shape[0] - equalities
    softening = cs.vertcat(cs.SX(variables, 1), _SOFTENING * cs.SX.ones(equalities))
    factors = cs.ldl(matrix - cs.diag(softening), True)
    rough = cs.ldl_solve(right, *factors)
    solution = rough + cs.ldl_solve(right - matrix @ rough, *factors)
    return solution, right - matrix @ solution


def _miss(problem: dict[str, cs.SX], solution: cs.SX, pressed: cs.SX, bounded: int) -> cs.SX:
    """A pressed bound has to be passed, all others must not be."""
    values = cs.vertcat(solution[:bounded], problem["rows"] @ solution)
    over, under = values - problem["upper"], problem["lower"] - values
    over[:bounded] = cs.if_else(pressed > 0.0, -over[:bounded], over[:bounded])
    under[:bounded] = cs.if_else(pressed < 0.0, -under[:bounded], under[:bounded])
    return cs.mmax(cs.fmax(over, under))
