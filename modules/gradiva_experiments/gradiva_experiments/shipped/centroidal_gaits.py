"""Centroidal MPC alone: one leg that hops, two legs that walk and run, pushed (thesis, figures 11.3 and 11.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gradiva.common import GRAVITY, NDArray, Side
from gradiva.reduced_model import CentroidalMpc, ContactPhase, com_reference
from gradiva.simulated_walk import (
    CENTROIDAL_PERIOD,
    CentroidalRun,
    Gait,
    centroidal_config,
    hopping,
    simulate_gait,
    stepping_stones,
    walking_and_running,
)
from gradiva.telemetry import COM, DCM, FOOT, MUTED, REFERENCE, STYLE
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

# -- figures 11.3 and 11.4 ---------------------------------------------------------------------------------------------

_FORCE, _PUSH = 5.0, 0.5  # [N], [s] of the thesis
_STONE_FORCE = 3.0  # [N] on stepping stones, which leave room for less
_ON_STONE = 1e-6  # [m] of rounding
_DURATION, _QUICK_DURATION = 6.0, 4.0  # [s]
_FACTOR = 2.0  # [-] by which the mean adjustment may differ: the gaits of the thesis are not known
_COUNTED = 2.0  # [s] after the push begins, in which landings are counted
_NO_DEADLINE = 60.0  # [s] the simulated body waits for its solution
_RECOVERED = 0.15  # [m] of the CoM from its reference at the end
_NO_PUSH = np.zeros(3)
DIRECTIONS = {"left": (0.0, 1.0), "ahead": (1.0, 0.0), "right": (0.0, -1.0), "back": (-1.0, 0.0)}


@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """Force on the CoM.

    Attributes:
        force: World, [N], shape (3,).
        begin: [s].
        duration: [s].
    """

    force: NDArray
    begin: float
    duration: float

    def at(self, time: float) -> NDArray:
        """Return the force at a time [s]."""
        return self.force if self.begin - 1e-9 <= time < self.begin + self.duration - 1e-9 else _NO_PUSH


@dataclass(frozen=True, slots=True)
class GaitFigure:
    """Experiment of the thesis, or beyond it.

    Attributes:
        gait: Makes the gait of a duration [s].
        push_at: [s].
        adjustment: Mean distance of nominal and adjusted contacts in the thesis, [m]; None: it is not there.
        title: Above the figure.
        force: Of the push, [N].
    """

    gait: Callable[[float], Gait]
    push_at: float
    adjustment: float | None
    title: str
    force: float = _FORCE


FIGURE_11_3 = GaitFigure(hopping, 1.0, 0.10, "One leg hops, pushed to the left by 5 N for 0.5 s")
FIGURE_11_4 = GaitFigure(walking_and_running, 1.5, 0.06, "Two legs walk and run, pushed to the left by 5 N for 0.5 s")
STONES = GaitFigure(
    stepping_stones, 1.5, None, "Two legs walk over stepping stones, pushed to the left by 3 N for 0.5 s", _STONE_FORCE
)


def run_gait_figure(run: ExperimentRun, figure: GaitFigure) -> None:
    """Simulate the gait without a push and pushed in each direction; the value is the mean adjustment, [m].

    The thesis gives neither the direction of the push nor the landings over which it takes the mean: here they are
    those of the two seconds from the beginning of the push on.
    """
    is_quick = run.options.quick
    gait = figure.gait(_QUICK_DURATION if is_quick else _DURATION)
    mpc = CentroidalMpc(replace(centroidal_config(), deadline=_NO_DEADLINE), gait.body)
    reference = com_reference(gait.plan, gait.com_height)
    directions = {"none": (0.0, 0.0), **dict(list(DIRECTIONS.items())[: 1 if is_quick else None])}
    for count, (name, direction) in enumerate(directions.items()):
        run.report(count, len(directions), f"push: {name}")
        mpc.reset()
        push = Push(figure.force * np.array([*direction, 0.0]), figure.push_at, _PUSH)
        done = simulate_gait(
            gait, lambda now, state, wrench: mpc.update(now, state, gait.plan, reference, wrench), push.at
        )
        run.add_row(_row(name, done, push, figure.adjustment))
        if name == "left":
            run.add_figure(gait_figure(done, push, figure.title), run.name)
            if not is_quick:
                write_film(done, push, run.folder.path / f"{run.name}.mp4")
    run.report(len(directions), len(directions), "figures are written")


def _row(name: str, done: CentroidalRun, push: Push, paper: float | None) -> Row:
    adjustments = done.adjustments(push.begin, push.begin + _COUNTED)
    adjusted = float(adjustments.mean()) if len(adjustments) else None
    expected = paper if push.force.any() else None
    outcome, reason = _judged(done, adjusted, expected)
    return {
        "push": name,
        "force_n": float(np.linalg.norm(push.force)),
        "landings": len(done.landings),
        "largest_adjustment_m": float(adjustments.max(initial=0.0)),
        "overhang_m": done.overhang,
        "fallbacks": done.fallbacks,
        "solution_ms": 1e3 * float(np.median(done.durations)),
        "paper": expected,
        "value": adjusted,
        "outcome": outcome,
        "reason": reason,
    }


def _judged(done: CentroidalRun, adjusted: float | None, paper: float | None) -> tuple[str, str]:
    """Return outcome and reason; the tolerances stand in the reason."""
    if done.reason:
        return "failed", done.reason
    if done.overhang > _ON_STONE:
        return "failed", f"a landing is {done.overhang:.3f} m off its stepping stone"
    error = done.recovery_error
    is_met = error <= _RECOVERED
    reason = f"goes on, the CoM {error:.2f} m from its reference in the end, {_RECOVERED:g} m are allowed"
    if paper is not None:
        is_met = is_met and adjusted is not None and paper / _FACTOR <= adjusted <= _FACTOR * paper
        reason += f"; an adjustment within a factor of {_FACTOR:g} of the paper's is asked"
    return "met" if is_met else "failed", reason


_SIZE = (10.0, 8.0)  # [inch]
_LEGEND: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.1, "ncols": 4}
_CONTACT_COLOURS = tuple(FOOT[side] for side in Side)


def gait_figure(done: CentroidalRun, push: Push, title: str) -> Figure:
    """Return the path from above with nominal and adjusted contacts, the CoM and the normal forces over time."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        grid = figure.add_gridspec(3, 2)
        _draw_path(figure.add_subplot(grid[0, :]), done)
        times, com, reference = np.array(done.times), np.array(done.com), np.array(done.com_reference)
        for panel, (axis, name) in enumerate(((1, "to the left"), (2, "height"))):
            axes = figure.add_subplot(grid[1, panel])
            axes.plot(times, reference[:, axis], color=REFERENCE, label="reference")
            axes.plot(times, com[:, axis], color=COM, label="CoM")
            axes.set_title(f"CoM, {name} [m]")
            axes.legend(**_LEGEND)
            _draw_push(axes, push)
        _draw_forces(figure.add_subplot(grid[2, :]), done, push)
        return figure


def _draw_path(axes: Axes, done: CentroidalRun) -> None:
    com, reference = np.array(done.com), np.array(done.com_reference)
    axes.plot(reference[:, 0], reference[:, 1], color=REFERENCE, label="reference of the CoM")
    axes.plot(com[:, 0], com[:, 1], color=COM, label="CoM")
    for count, (_, contact, phase, adjusted) in enumerate(done.landings):
        outline = done.gait.body.corners[contact]
        _draw_stone(axes, phase, outline)
        outline = np.vstack((outline, outline[:1]))
        for place, colour, label in ((phase.position, MUTED, "nominal contact"), (adjusted, DCM, "adjusted contact")):
            corners = place + outline
            marker = "o" if len(outline) == 2 else ""
            axes.plot(corners[:, 0], corners[:, 1], color=colour, marker=marker, label=label if count == 0 else None)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title("from above [m]")
    axes.legend(**_LEGEND)


def _draw_stone(axes: Axes, phase: ContactPhase, sole: NDArray) -> None:
    """Draw the stepping stone below a contact that looks along x; none where it may land anywhere."""
    if not np.isfinite(phase.allowed[:, :2]).all():
        return
    lower, upper = (phase.position + phase.allowed)[:, :2] + [sole.min(axis=0)[:2], sole.max(axis=0)[:2]]
    axes.add_patch(Rectangle(tuple(lower), *(upper - lower), facecolor=MUTED, alpha=0.2, linewidth=0.0))


def _draw_forces(axes: Axes, done: CentroidalRun, push: Push) -> None:
    forces, owners = np.array(done.forces), done.gait.body.owners
    for contact, colour in zip(range(len(done.gait.body.corners)), _CONTACT_COLOURS, strict=False):
        normal = forces[:, owners == contact, 2].sum(axis=1)
        axes.step(done.times, normal, where="post", color=colour, label=f"contact {contact + 1}")
    axes.set_title("normal forces of the contacts [N]")
    axes.set_xlabel("time [s]", loc="right")
    axes.legend(**_LEGEND)
    _draw_push(axes, push)


def _draw_push(axes: Axes, push: Push) -> None:
    axes.axvspan(push.begin, push.begin + push.duration, color=MUTED, alpha=0.25, linewidth=0.0)


# -- film --------------------------------------------------------------------------------------------------------------

_FILM_SIZE, _FILM_DPI = (8.0, 4.5), 80.0  # [inch], [1/inch]: even numbers of pixels
_SHOWN = 0.8  # [m] ahead of and behind the CoM
_ARROW = 0.4  # [m] of a force as large as the weight


def write_film(done: CentroidalRun, push: Push, path: Path) -> None:
    """Write an mp4 of the gait from the side and from above: contacts, CoM, forces of the ground and the push."""
    figure = Figure(figsize=_FILM_SIZE, dpi=_FILM_DPI, layout="constrained")
    canvas, panels = FigureCanvasAgg(figure), figure.subplots(1, 2)
    writer: Any = imageio.get_writer(path, fps=round(1.0 / CENTROIDAL_PERIOD), codec="libx264", macro_block_size=2)
    with writer:
        for frame in range(len(done.times)):
            for axes, axis in zip(panels, (2, 1), strict=True):
                axes.clear()
                _draw_frame(axes, done, push, frame, axis)
            canvas.draw()
            writer.append_data(np.asarray(canvas.buffer_rgba())[:, :, :3])


def _draw_frame(axes: Axes, done: CentroidalRun, push: Push, frame: int, axis: int) -> None:
    """Draw one instant over x and another ``axis``; contacts in the air are pale, where they would land."""
    com, contacts, owners = np.array(done.com[: frame + 1]), done.contacts[frame], done.gait.body.owners
    x, y = com[-1, [0, axis]]
    axes.plot(com[:, 0], com[:, axis], color=COM)
    weight = done.gait.body.mass * GRAVITY
    for contact, colour in zip(range(len(contacts)), _CONTACT_COLOURS, strict=False):
        sole, stands = contacts[contact] + done.gait.body.corners[contact], done.active[frame][contact]
        outline = np.vstack((sole, sole[:1]))
        axes.plot(outline[:, 0], outline[:, axis], "o-", markersize=3.0, color=colour, alpha=1.0 if stands else 0.3)
        force = done.forces[frame][owners == contact].sum(axis=0) * (_ARROW / weight)
        axes.plot([contacts[contact][0], x], [contacts[contact][axis], y], color=MUTED, linewidth=2.0 * stands)
        axes.arrow(*contacts[contact][[0, axis]], *force[[0, axis]], color=DCM, width=0.004)
    pushing = push.at(done.times[frame])[[0, axis]] * (_ARROW / weight)
    axes.arrow(x, y, *pushing, color=REFERENCE, width=0.012)
    axes.plot([x], [y], "o", color=COM, markersize=10.0)
    axes.set_xlim(x - _SHOWN, x + _SHOWN)
    axes.set_ylim((-0.05, 0.85) if axis == 2 else (-0.4, 0.6))
    axes.set_aspect("equal")
    axes.set_title(f"from the side, {done.times[frame]:.2f} s" if axis == 2 else "from above")


_THESIS = "Romualdi, thesis, chapter 11"
EXPERIMENTS = tuple(
    Experiment(
        name,
        source,
        description,
        partial(run_gait_figure, figure=figure),
        "mean contact adjustment [m]",
        quick=f"{_QUICK_DURATION:g} of {_DURATION:g} s, pushed to the left alone or not at all, no film.",
        own_robots=(),
    )
    for name, source, figure, description in (
        (
            "figure_11_3",
            f"{_THESIS}, figure 11.3",
            FIGURE_11_3,
            "Centroidal MPC: one leg hops, and is pushed by 5 N for 0.5 s.",
        ),
        (
            "figure_11_4",
            f"{_THESIS}, figure 11.4",
            FIGURE_11_4,
            "Centroidal MPC: two legs walk, then run, and are pushed by 5 N for 0.5 s.",
        ),
        (
            "stepping_stones",
            "Gradiva's own experiment",
            STONES,
            "Centroidal MPC: two legs walk over stepping stones, and are pushed by 3 N for 0.5 s.",
        ),
    )
)
