"""Key figures of a result, as terminal, report and comparison show them, beside what is usual and healthy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SOFT_GROUND = "soft"
"""Name of soft ground in results; some figures exist on it only."""
ERRORS = (("dcm_error_m", "DCM"), ("zmp_error_m", "ZMP"), ("com_error_m", "CoM"), ("foot_error_m", "foot"))
"""Keys of the tracking errors, each with ``rms`` and ``max``, and their labels."""
BAD_OUTCOMES = ("fell", "failed")
"""Outcomes of walks whose figures are those of a fall."""
_WITH_WARNING = "stability_margins.", "chatter."  # figures with a warning of their own
_MOVED = 5e-3  # [m] by which an adapted step moves the end of a velocity
_LANDED = "Of steps that came down on the ground, not of the foot of a robot that falls."
_MOST_UNUSUAL = 4  # figures in the line that names them


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number of a result as terminal and report show it.

    Attributes:
        key: In ``result.json``; dots lead into its tables.
        label: The same words as the key.
        unit: Behind the number; empty for a pure number.
        factor: From the value in SI units to ``unit``.
        digits: Behind the decimal point.
        ground: The only ground on which it is shown; any when empty.
        better: 1 where more is better, -1 where less is, 0 where neither is, or what differs is mostly chance.
        is_enough: Whether a value within its healthy bound is as good as any other.
        case: Key of the text that says in which case the value is found; empty where there is one case.
        definition: Sentence that a tooltip shows; empty where the label says it.
        healthy: Key of its bound; empty: its own key in the table ``healthy``.
        when: Key of the time of the step that the value is of; empty where it is of the whole walk.
        unfinished: Label where the robot does not stand at the end; empty: the same.
    """

    key: str
    label: str
    unit: str = ""
    factor: float = 1.0
    digits: int = 0
    ground: str = ""
    better: int = 0
    is_enough: bool = False
    case: str = ""
    definition: str = ""
    healthy: str = ""
    when: str = ""
    unfinished: str = ""

    def name(self, result: Mapping[str, Any]) -> str:
        """Return the label, which may differ where the robot does not stand at the end."""
        return self.unfinished if self.unfinished and result.get("is_standing") is False else self.label

    def remark(self, result: Mapping[str, Any]) -> str:
        """Return of which step the value is, or that adapted steps have part in it; empty where there is nothing."""
        if self.when and (moment := _nested_value(result, self.when)) is not None:
            return f"of the step that lifted off at {moment:.2f} s"
        return "adapted steps have moved its end" * (self.key == "end_error_m" and _has_moved_end(result))

    def is_shown(self, result: Mapping[str, Any]) -> bool:
        """Return whether a result has this figure."""
        return self.value(result) is not None and self.ground in ("", result.get("ground"))

    def value(self, result: Mapping[str, Any]) -> Any:
        """Return the value in SI units; None where the result has none."""
        return _nested_value(result, self.key)

    def bound(self, result: Mapping[str, Any]) -> float | None:
        """Return up to where the value is healthy (from where on, if more is better); None where no bound is known."""
        return _nested_value(result, self.healthy) if self.healthy else (result.get("healthy") or {}).get(self.key)

    def healthy_range(self, result: Mapping[str, Any]) -> str:
        """Return up to where the value is healthy, or from where on; nothing where the result does not say."""
        if (bound := self.bound(result)) is None:
            return ""
        return f"healthy {'from' if self.better > 0 else 'up to'} {number(bound, self.factor, self.digits)}"

    def case_in(self, result: Mapping[str, Any]) -> Any:
        """Return in which case the value is found; None where there is one case."""
        return _nested_value(result, self.case)

    def is_beyond(self, result: Mapping[str, Any]) -> bool:
        """Return whether the value is outside its bound."""
        value, bound = self.value(result), self.bound(result)
        return value is not None and bound is not None and bool(self.better * value < self.better * bound)

    def usual(self, result: Mapping[str, Any]) -> Mapping[str, float]:
        """Return ``least``, ``most`` and ``unusual`` of known good walks; empty where there are none."""
        return ((result.get("usual") or {}).get("figures") or {}).get(self.key) or {}

    def usual_range(self, result: Mapping[str, Any]) -> str:
        """Return least and most of known good walks without their unit; empty where there are none."""
        ends = (self.usual(result).get(end) for end in ("least", "most"))
        texts = dict.fromkeys(number(end, self.factor, self.digits) for end in ends if end is not None)
        return "–".join(texts)

    def is_unusual(self, result: Mapping[str, Any]) -> bool:
        """Return whether the value is worse than usual by what is read: half of the last digit, and another number."""
        usual, value = self.usual(result), self.value(result)
        if not usual or value is None or self.factor * (value - usual["unusual"]) < 0.5 * 10.0**-self.digits:
            return False
        return self.number(result) != number(usual["unusual"], self.factor, self.digits)

    def number(self, result: Mapping[str, Any]) -> str:
        """Return the value without its unit."""
        return number(self.value(result), self.factor, self.digits)

    def with_unit(self, result: Mapping[str, Any]) -> str:
        """Return the value with its unit."""
        return f"{self.number(result)}{' ' * (self.unit not in ('', '°'))}{self.unit}"


def _nested_value(result: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key, whose dots lead into the tables of a result; None where there is none."""
    found: Any = result
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def number(value: Any, factor: float, digits: int) -> str:
    """Return a number for reading, zero without a sign; a dash for what is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–"
    rounded = round(value * factor, digits) + 0.0  # -0.0 + 0.0 is 0.0
    return f"{rounded:,.{digits}f}".replace(",", "\u202f").replace("-", "−")


TRACKING_FIGURES = (
    *(
        KeyFigure(f"{key}.{what}", f"{label} error, {what}", "mm", 1e3, 1, better=-1)
        for key, label in ERRORS
        for what in ("rms", "max")
    ),
    *(
        KeyFigure(
            *(f"chatter.shift.{key}", f"{label} above 25 Hz, last shift", unit, factor, 2),
            better=-1,
            healthy=f"chatter.healthy_shift.{key}",
        )
        for key, label, unit, factor in (("foot_force", "foot force", "% of weight", 1e2), ("zmp_m", "ZMP", "mm", 1e3))
    ),
    # Neither tick time is the better one: other programs on the computer make as much of a difference.
    KeyFigure("tick_us.total.median", "tick time, median", "µs"),
    KeyFigure("tick_us.total.p99", "tick time, p99", "µs"),
)
"""Figures that a report has in tables."""
SHIFT_FIGURES = tuple(one for one in TRACKING_FIGURES if one.key.startswith("chatter.shift"))
"""Those of the last weight shift."""
KEY_FIGURES = (
    KeyFigure("distance_m", "distance", "m", 1.0, 2, unfinished="distance of whole steps"),
    KeyFigure("steps", "steps"),
    KeyFigure(
        *("duration_s", "duration, standing included", "s", 1.0, 1),
        definition="Of the simulation: preparation, command, closing step, and standing before and after.",
    ),
    *(
        KeyFigure(f"{key}_speed_mps", f"{key} speed", "m/s", 1.0, 3, definition=definition)
        for key, definition in (
            ("commanded", "What the command asks for, along the ground."),
            ("walking", "Distance over the time from the first lift-off to the last touch-down, ramps included."),
            ("mean", "Distance over the time from the first weight shift until the robot stands, or falls."),
            ("peak", "That of the fastest stride, or of the walk where that is faster."),
        )
    ),
    KeyFigure("goal_error_m", "goal error", "mm", 1e3, 0, better=-1),
    KeyFigure(
        *("end_error_m", "end error", "mm", 1e3, 0),
        better=-1,
        definition="Distance of the middle of the feet, by the simulator's truth, from where the command ends.",
    ),
    KeyFigure("heading_error_rad", "heading error", "°", math.degrees(1.0), 1, better=-1),
    KeyFigure("max_tilt_rad", "max tilt", "°", math.degrees(1.0), 1, better=-1),
    KeyFigure("foot_slip_m", "foot slip", "mm", 1e3, 1, better=-1),
    KeyFigure("foot_tilt_rad", "max tilt of a loaded sole", "°", math.degrees(1.0), 1, better=-1),
    KeyFigure(
        "landing_force_weights",
        "max landing force",
        "weights",
        1.0,
        2,
        better=-1,
        definition="Largest normal force of a foot from the first lift-off on, as a mean over 5 ms or a longer tick.",
    ),
    *(
        KeyFigure(
            *(f"early_landing_s.{what}", f"early landing, {label} (later: negative)", "ms", 1e3, 0),
            better=-1,
            definition="From a sole's first load of 5 % of the weight to the touch-down of the plan that is followed.",
        )
        for what, label in (("median", "median"), ("max", "largest"))
    ),
    KeyFigure(
        *("bounces_per_landing", "bounces a landing", "", 1.0, 1),
        better=-1,
        definition="Times for which a sole that has come down leaves the ground again, as a mean over the landings.",
    ),
    KeyFigure("sinkage_m", "max sinkage", "mm", 1e3, 1, SOFT_GROUND, better=-1),
    KeyFigure("adapted_steps", "adapted steps"),
    KeyFigure(
        *("largest_step_change_m", "largest step change", "mm", 1e3, 0),
        definition=_LANDED,
        when="largest_step_change_at_s",
        unfinished="largest landed step change",
    ),
    KeyFigure(
        *("largest_step_delay_s", "largest step delay (earlier: negative)", "ms", 1e3, 0),
        definition=_LANDED,
        when="largest_step_delay_at_s",
        unfinished="largest landed step delay (earlier: negative)",
    ),
    KeyFigure("flexible_joints.deflection_rad", "max deflection", "°", math.degrees(1.0), 2),
    KeyFigure("flexible_joints.observed_deflection_rad", "max observed deflection", "°", math.degrees(1.0), 2),
    KeyFigure("flexible_joints.deflection_error_rad.max", "max deflection error", "°", math.degrees(1.0), 3, better=-1),
    KeyFigure("flexible_joints.true_com_error_m.max", "max true CoM error", "mm", 1e3, 1, better=-1),
    KeyFigure("mpc.decisions", "MPC decisions"),
    KeyFigure("mpc.fallbacks", "MPC fallbacks", better=-1),
    KeyFigure("mpc.late_decisions", "late MPC decisions", better=-1),
    KeyFigure("mpc.inaccurate", "inaccurate MPC decisions", better=-1),
    KeyFigure("mpc.residual_max", "largest MPC residual", "% of the cost", 100.0, 2, better=-1),
    KeyFigure("odometry_drift_m", "odometry drift", "mm", 1e3, 0, better=-1),
    KeyFigure("specific_energetic_cost", "specific energetic cost", "J/(kg·m)", 1.0, 2, better=-1),
    KeyFigure(
        *("stability_margins.margins.gain_db", "gain margin, wrench loop", "dB", 1.0, 1),
        better=1,
        is_enough=True,
        case="stability_margins.case",
    ),
    KeyFigure("stability_margins.margins.phase_deg", "phase margin, wrench loop", "°", better=1, is_enough=True),
    KeyFigure("stability_margins.margins.peak", "M_s from 5 Hz, wrench loop", "", 1.0, 1, better=-1, is_enough=True),
    KeyFigure(
        *("stability_margins.balance_peak", "M_s up to 5 Hz, balance, one foot, soft floor", "", 1.0, 1),
        better=-1,
        is_enough=True,
        definition="On a floor of 28 ms, or on the simulated one where that is softer.",
    ),
    KeyFigure("real_time_factor", "real-time factor", "", 1.0, 2),
    KeyFigure("qp_failures", "QP failures", better=-1),
    KeyFigure("held_ticks", "held ticks", better=-1, definition="Ticks in which the last command was held."),
    KeyFigure("deadline_misses", "deadline misses", better=-1),
)


# -- what is unusual, in words ---------------------------------------------------------------------------------------


def unusual_figures(result: Mapping[str, Any]) -> str:
    """Return the figures that are worse than usual, the worst first; empty where there are none, or the robot fell."""
    if result.get("outcome") in BAD_OUTCOMES:
        return ""
    found = [figure for figure in (*TRACKING_FIGURES, *KEY_FIGURES) if figure.is_unusual(result)]
    found.sort(key=lambda figure: -float(figure.value(result)) / max(figure.usual(result)["most"], 1e-12))
    what = "worse than usual" + ", which is of walks without pushes" * bool(
        (result.get("usual") or {}).get("is_pushed")
    )
    return _listed(what, [(figure, f"usual {figure.usual_range(result)}") for figure in found], result)


def unhealthy_figures(result: Mapping[str, Any]) -> str:
    """Return the figures beyond their healthy bounds of which nothing usual is known; empty where there are none.

    Stability margins are not among them: they are warned of before the walk; nor is an oscillation, which has a line.
    """
    if result.get("outcome") in BAD_OUTCOMES:
        return ""
    figures = (one for one in (*TRACKING_FIGURES, *KEY_FIGURES) if not one.key.startswith(_WITH_WARNING))
    found = [figure for figure in figures if figure.is_beyond(result)]
    return _listed(
        "beyond healthy", [(each, each.healthy_range(result)) for each in found if not each.usual(result)], result
    )


def _has_moved_end(result: Mapping[str, Any]) -> bool:
    """Return whether the end of a velocity moved with adapted steps; that of a place stays."""
    return result.get("commanded_duration_s") is not None and (result.get("largest_step_change_m") or 0.0) > _MOVED


def further_steps(result: Mapping[str, Any]) -> str:
    """Return a line on steps beyond those of the plan, with what they were for, or on a push that moved none.

    Empty where there was neither.
    """
    steps, planned = result.get("steps"), result.get("planned_steps")
    if steps is None or planned is None or steps <= planned:
        active = result.get("step_adaptation_active_s") or 0.0
        if not active or result.get("adapted_steps") or not result.get("outcome", "walked").startswith("walked"):
            return ""
        return f"steps   all as planned: in {active:.2f} s of step adaptation no landing had to move"
    adapted, on_the_spot = result.get("adapted_steps") or 0, result.get("further_steps_on_the_spot") or 0
    found = [f"{on_the_spot} of them on the spot"] * bool(on_the_spot) + [f"{adapted} adapted"] * bool(adapted)
    found = found or ["planned anew on the way"]
    return f"steps   {'; '.join([f'{steps} taken, {planned} planned: {steps - planned} more', *found])}"


def _listed(what: str, figures: Sequence[tuple[KeyFigure, str]], result: Mapping[str, Any]) -> str:
    """Return figures with what each is compared with, the first few; empty where there are none."""
    texts = [f"{figure.label} {figure.with_unit(result)} ({other})" for figure, other in figures]
    more = f" and {len(texts) - _MOST_UNUSUAL} more" * (len(texts) > _MOST_UNUSUAL)
    return f"{what}: {', '.join(texts[:_MOST_UNUSUAL])}{more}" if texts else ""
