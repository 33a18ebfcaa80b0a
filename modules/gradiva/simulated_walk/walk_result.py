"""Runs one walk from start to stand and returns its result."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradiva.common import ControlMode, RobotInterfaceError, Side
from gradiva.planner import Command
from gradiva.push_recovery import SteppingMode
from gradiva.robot_model import Compiler
from gradiva.safety import SafetyCheck
from gradiva.setup import Plant, Robot, Setup
from gradiva.setup.changed_keys import changed_in_words
from gradiva.setup.robot import load_robot
from gradiva.setup.soft_floors import stands_softly
from gradiva.setup.stability_margins import GAIN_MARGIN, PEAK, PHASE_MARGIN, known_margins
from gradiva.simplified_model import BalanceLayer, DcmLaw
from gradiva.simulated_walk.cause_search import Progress, Trials, tried_cause
from gradiva.simulated_walk.commanded_end import (
    SLIP_TOLERANCE,
    EndError,
    commanded_speed,
    complaints_of,
    count_steps,
    end_of,
    final_tilt,
    goal_error,
    judged_walk,
    near_bounds,
    plan_from_start,
    true_pose,
)
from gradiva.simulated_walk.fall_diagnosis import LOOP_TABLES, Diagnosis, chatter_table, diagnose_walk, names_loop
from gradiva.simulated_walk.fall_evidence import Cause, at_limits_in_words, supporting_joints_at_limits
from gradiva.simulated_walk.footing import floor_note
from gradiva.simulated_walk.known_causes import BadEnd, KnownWalk
from gradiva.simulated_walk.live_view import LiveView
from gradiva.simulated_walk.reference_bands import healthy_errors, usual_figures
from gradiva.simulated_walk.simulated_walk import Observer, SimulatedWalk, refuse_endless
from gradiva.simulated_walk.walk_score import (
    BOUNCES,
    EARLY_LANDING,
    LANDING_FORCE,
    landing_force,
    landing_score,
    score,
    specific_energetic_cost,
    with_freeze,
)
from gradiva.simulation import GroundKind, Push, ground_name
from gradiva.telemetry import LogError, RunFolder, SignalLog, WalkRecord, draw_plot, plain, unsaved, write_report
from gradiva.walking import WalkingState
from gradiva.whole_body import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WALKED = "walked"
"""Outcome of a robot that did what was commanded and stands."""
WALKED_BADLY = "walked badly"
"""Outcome of a robot that stands, but elsewhere than commanded, after it slid, or askew; the reason says which."""
_FELL, _STOPPED, _INTERRUPTED = "fell", "stopped", "interrupted"
_BAD_ENDS = {_FELL: BadEnd.FELL, _STOPPED: BadEnd.STOPPED, WALKED_BADLY: BadEnd.WALKED_BADLY}
_OF_A_STAND = "goal_error_m", "end_error_m", "heading_error_rad", "specific_energetic_cost"
_LONG_BEFORE = 0.5  # [s] a robot that falls is found to, and frozen, 0.1 to 0.4 s before it lies
_LEANING = 0.35  # [rad] a robot left so is no success of its controller; healthy walks stay below 0.1

# -- the walk ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkRequest:
    """A walk to be done.

    Attributes:
        setup: Robot, controller, plant.
        command: Where to.
        seed: Of the noise.
        name: Of the run's folder.
        arguments: Of ``gradiva walk``, that repeat the walk; empty when none were typed.
    """

    setup: Setup
    command: Command
    seed: int = 0
    name: str = "walk"
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class WalkOutcome:
    """Result of a walk.

    Attributes:
        request: What was asked for.
        result: The figures, in the shape of ``result.json``.
        walk: The simulation with its log.
        was_interrupted: Whether Ctrl-C came before the robot was done, or while the cause of a bad end was looked for.
        diagnosis: Of a walk that ended badly.
    """

    request: WalkRequest
    result: dict[str, Any]
    walk: SimulatedWalk
    was_interrupted: bool = False
    diagnosis: Diagnosis | None = None

    @property
    def log(self) -> SignalLog:
        """Signals of the walk, from its first tick to its last."""
        return self.walk.recorder.log

    def __repr__(self) -> str:
        """Return robot, command and outcome, with its reason."""
        robot, reason = self.request.setup.robot.title, self.result["reason"]
        figures = f"{self.result['duration_s']:.1f} s"
        if self.result.get("distance_m") is not None:
            figures = f"{self.result['distance_m']:.2f} m in {figures}"
        return f"<WalkOutcome: {robot} {self.request.command}, {figures}: {self.result['outcome']}, {reason}>"

    def plot(self, title: str = "From above") -> Figure:
        """Return a plot of the report.

        Args:
            title: Of the plot, as in the report.

        Raises:
            LogError: There is no such plot, or the walk has no signals for it.
        """
        return draw_plot(title, self._record())

    def report(self, parent: Path | str = "runs") -> Path:
        """Save the walk and return the path of its report, an HTML page.

        Raises:
            LogError: The robot fell before it balanced, or the disk is full: there is no report.
            ConfigError: The folder cannot be written.
        """
        path = self.save(parent) / "report.html"
        if not path.is_file():
            raise LogError(f"no report of {self!r}: it has no signals, or the disk did not take it")
        return path

    def save(self, parent: Path | str = "runs") -> Path:
        """Save configuration, result, log and report in a new folder below ``parent``; return the folder.

        Raises:
            ConfigError: The folder cannot be written.
            LogError: The disk does not take a file.
        """
        folder = create_run(self.request, Path(parent))
        if lost := save_walk(self, folder):
            raise LogError("not saved: " + "; ".join(lost))
        return folder.path

    def to_dataframe(self) -> Any:
        """Return the log as a pandas ``DataFrame``, see ``SignalLog.to_dataframe``.

        Raises:
            LogError: pandas is not installed.
        """
        return self.log.to_dataframe()

    def explained(
        self, report: Callable[[str], None] = lambda line: None, progress: Progress | None = None
    ) -> WalkOutcome:
        """Look for the cause of a bad end by further walks, as ``gradiva walk`` does; return the outcome with it.

        Each is a walk without one of the things that differ from a shipped one, and takes some seconds. A walk that
        ended well stays as it is, as does one with a law, task or check that was handed over in Python. Ctrl-C ends
        the search: what it found until then stands, and ``was_interrupted`` is set.

        Args:
            report: Takes a line for each of these walks, ``print`` for instance.
            progress: Is called before each walk with the number of those that are done, the most that there can be,
                and which one is walked now.
        """
        if self.diagnosis is None:
            return self
        known = KnownWalk.of(self.walk, self.request.command, _BAD_ENDS[self.result["outcome"]])
        trials = Trials(known, report, progress or _without_progress, self.result["real_time_factor"])
        found = self.with_cause(tried_cause(trials, self.diagnosis.cause, self.diagnosis.measured))
        return replace(found, was_interrupted=self.was_interrupted or trials.is_interrupted)

    def with_cause(self, cause: Cause | None) -> WalkOutcome:
        """Return the outcome of a walk that ended badly with another cause."""
        assert self.diagnosis is not None, "it ended badly"
        found = replace(self.diagnosis, cause=cause)
        reason = self.result["reason"].removesuffix(str(self.diagnosis))
        result = self.result | {"reason": f"{reason}{found}", "diagnosis": _with_files(found, self.request.setup)}
        return replace(self, result=result if cause is None else _less_oscillation(result, cause), diagnosis=found)

    def _record(self) -> WalkRecord:
        robot, result = self.request.setup.robot, plain(self.result | _for_the_report(self))
        return WalkRecord.of(self.log, robot.joints, result)

    @property
    def walked(self) -> bool:
        """Whether the robot did what was asked and still stands."""
        return bool(self.result["outcome"] == WALKED)

    @property
    def stands(self) -> bool:
        """Whether the robot walked to the end and still stands, wherever that is."""
        return self.result["outcome"] in (WALKED, WALKED_BADLY)


def simulate(
    robot: Robot | str,
    command: Command,
    *,
    seed: int = 0,
    view: bool = False,
    dcm_law: DcmLaw | BalanceLayer | None = None,
    tasks: Sequence[Task] = (),
    checks: Sequence[SafetyCheck] = (),
) -> WalkOutcome:
    """Simulate a walk from stand to stand; what happens to the robot is an outcome.

    Args:
        robot: As ``load_robot`` returns it with the settings of the walk, or its name.
        command: Where to; it has to end.
        seed: Of the noise.
        view: Show it in the browser, at the speed of the clock; then replay it until the page is closed.
        dcm_law: Of layer 2, instead of the configured one.
        tasks: Of the whole body, beside those of walking.
        checks: Of safety, beside the shipped ones.

    Raises:
        PlanningError: The command never ends, or cannot be planned.
        WalkingError: The robot or its configuration is wrong.
    """
    setup = (robot if isinstance(robot, Robot) else load_robot(robot)).setup
    refuse_endless(command)
    plan, observers = plan_from_start(setup, command), list[Observer]()
    plugins: dict[str, Any] = {"dcm_law": dcm_law, "tasks": tasks, "checks": checks}
    plugins["observers"] = (lambda walk: _notify(observers, walk),)
    walk, request = SimulatedWalk(setup, seed, **plugins), WalkRequest(setup, command, seed)
    with ExitStack() as stack:
        live = stack.enter_context(LiveView(setup, plan, walk.time)) if view else None
        observers += [live] if live is not None else []
        outcome = finish_walk(request, walk)
        if live is not None and not outcome.was_interrupted:
            live.replay(walk.recorder.log)
    return outcome


def _without_progress(done: int, most: int, what: str) -> None:
    """Show nothing."""


def _notify(observers: list[Observer], walk: SimulatedWalk) -> None:
    for observe in observers:
        observe(walk)


def run_walk(
    request: WalkRequest,
    compiler: Compiler | None = None,
    observers: tuple[Observer, ...] = (),
    report: Callable[[str], None] | None = None,
) -> WalkOutcome:
    """Prepare, walk, stop, stand; return the figures.

    Args:
        request: What is to be walked.
        compiler: By default as in `SimulatedWalk`.
        observers: Called after each tick.
        report: As in `finish_walk`.

    Raises:
        PlanningError: The command cannot be planned.
        WalkingError: The configuration or the model is wrong.
        KeyboardInterrupt: The walk was interrupted; the caller that wants what there is of it calls ``finish_walk``.
    """
    plan_from_start(request.setup, request.command)
    outcome = finish_walk(request, SimulatedWalk(request.setup, request.seed, compiler, observers=observers), report)
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    return outcome


def finish_walk(
    request: WalkRequest,
    walk: SimulatedWalk,
    report: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> WalkOutcome:
    """Do with a robot on the ground what ``run_walk`` does; what goes wrong from here on is an outcome.

    Args:
        request: What is to be walked.
        walk: The robot on the ground.
        report: As in `WalkOutcome.explained`, which looks for the cause of a bad end; None: it is not called.
        progress: As in `WalkOutcome.explained`.
    """
    started = time.perf_counter()
    failure = ""
    try:
        stands = (walk.controller.state is WalkingState.WALKING or walk.get_ready()) and walk.follow(request.command)
        stands = stands and (walk.controller.state is WalkingState.STOPPED or walk.come_to_stand())
        if not stands:
            failure = walk.overdue
            walk.await_fall()
    except RobotInterfaceError as error:
        stands, failure = False, str(error)
    except KeyboardInterrupt:
        stands, failure = False, _INTERRUPTED
    wall = time.perf_counter() - started
    off = end_of(walk, request.command)
    ending = _judged(_ending(walk, stands, failure), walk, off)
    result = _result(request, walk, ending, off, wall)
    if not ending.stands:  # on its way, or on the ground: what is left of the way is no error
        result |= dict.fromkeys(_OF_A_STAND)
    if result["position_limits"] and not changed_in_words(request.setup, *LOOP_TABLES):
        result = _without_oscillation(result)
    outcome = WalkOutcome(request, result, walk, failure == _INTERRUPTED, ending.diagnosis)
    return outcome if report is None else outcome.explained(report, progress)


def create_run(request: WalkRequest, parent: Path) -> RunFolder:
    """Make the run's folder below ``parent`` and write its configuration.

    Raises:
        ConfigError: The folder cannot be written.
    """
    tables = {**request.setup.tables, "run": {"seed": request.seed, "arguments": request.arguments}}
    return RunFolder.create(parent, request.name, tables)


def save_walk(outcome: WalkOutcome, folder: RunFolder) -> list[str]:
    """Fill the run's folder with result, log and report; return a line for each file that the disk does not take.

    The result names the report. A robot that fell before it balanced has left no log, and gets no report.
    """
    robot, log = outcome.request.setup.robot, outcome.log
    if not len(log):
        return _save_result(outcome, folder)
    outcome.result["report"] = str(folder.report_path)
    lines = _save_result(outcome, folder)
    lines += unsaved(folder.log_path, lambda: folder.write_log(log, robot.joints, robot.name))
    record = outcome._record()
    if without_report := unsaved(folder.report_path, lambda: write_report(folder, record)):
        outcome.result["report"] = None
        _save_result(outcome, folder)
    return lines + without_report


def _save_result(outcome: WalkOutcome, folder: RunFolder) -> list[str]:
    return unsaved(folder.result_path, lambda: folder.write_result(outcome.result | _for_the_report(outcome)))


# -- result.json -------------------------------------------------------------------------------------------------------


def _result(request: WalkRequest, walk: SimulatedWalk, ending: _Ending, error: EndError, wall: float) -> dict[str, Any]:
    """The shape of ``result.json``: what was asked for, how it went, what it cost the controller."""
    plan = plan_from_start(request.setup, request.command)
    return {
        **ending.as_table(request.setup),
        **_what_was_asked(request),
        "model": walk.model,
        "duration_s": walk.time,
        **count_steps(walk, plan),
        **_how_it_went(request, walk, error),
        "position_limits": _position_limits(walk, ending),
        "near_bounds": ending.near or None,
        "floor_note": floor_note(request.setup, plan, request.seed),
        "usual": usual_figures(request.setup, request.command, walk.layers.has_own_tasks),
        **_how_it_ran(walk),
        "real_time_factor": walk.time / wall,
        "report": None,
    }


def _what_was_asked(request: WalkRequest) -> dict[str, Any]:
    setup = request.setup
    return {
        "robot": setup.robot.name,
        "control": str(setup.walking.walking.control),
        "plant": str(setup.plant),
        "ground": ground_name(setup.simulation.ground.kind),
        **_slope(setup),
        "seed": request.seed,
        "command": shlex.join(request.arguments) or None,
        "commanded_speed_mps": commanded_speed(request.command, setup.walking.planner),
        "commanded_duration_s": getattr(request.command, "duration", None),
    }


def _slope(setup: Setup) -> dict[str, float | None]:
    """Return steepness and heading of a slope, nothing of level ground."""
    ground = setup.simulation.ground
    is_level = ground.steepness == 0.0
    return {
        "slope_rad": None if is_level else ground.steepness,
        "slope_heading_rad": None if is_level else ground.uphill,
    }


def _how_it_went(request: WalkRequest, walk: SimulatedWalk, error: EndError) -> dict[str, Any]:
    """The figures of the log, and the simulator's truth at the end."""
    adapts_steps = walk.setup.walking.step_adaptation.mode is not SteppingMode.OFF
    figures = with_freeze(score(walk.recorder.log, adapts_steps=adapts_steps), walk.freezing)
    truth = walk.robot.truth()
    pose = true_pose(truth)
    loads = walk.chatter.loads()
    cost = specific_energetic_cost(walk.robot.positive_work_j, request.setup.robot.mass, figures["distance_m"])
    return {
        **figures,
        "max_tilt_rad": _largest_tilt(walk, figures["max_tilt_rad"]),
        "final_pose": list(pose),
        "goal_error_m": goal_error(request.command, pose),
        "end_error_m": error.distance,
        "commanded_end_m": list(error.end),
        "heading_error_rad": error.heading,
        "foot_slip_m": truth.foot_slip_m,
        "landing_force_weights": landing_force(*loads),
        **landing_score(*loads),
        "specific_energetic_cost": cost,
        "chatter": chatter_table(walk),
    }


def _position_limits(walk: SimulatedWalk, ending: _Ending) -> str | None:
    """Return a line on joints that came to the limits of their positions before anything went wrong; else None."""
    until = math.inf if ending.diagnosis is None else ending.diagnosis.onset
    found = supporting_joints_at_limits(walk.recorder.log, walk.setup.robot, walk.layers.joint_limits, until)
    if not found:
        return None
    changed = changed_in_words(walk.setup, "planner.")
    return at_limits_in_words(found, walk.layers.joint_axes()) + (
        f" (set otherwise than shipped: {changed})" if changed else ""
    )


def _less_oscillation(result: dict[str, Any], cause: Cause) -> dict[str, Any]:
    """Return the result with no warning of an oscillation, where a walk showed that something else is the cause."""
    return _without_oscillation(result) if cause.is_shown and not names_loop(cause) else result


def _without_oscillation(result: dict[str, Any]) -> dict[str, Any]:
    return result | {"chatter": result["chatter"] | {"text": None}}


def _how_it_ran(walk: SimulatedWalk) -> dict[str, Any]:
    times = walk.layers.model_control.solver_times
    return {
        "mpc": None if times is None else times.as_table(),
        "qp_failures": walk.controller.qp_failures + walk.controller.model_failures,
        "safety_events": [event.as_table() for event in walk.controller.safety_events],
        "bridged_readings": walk.controller.bridged_readings,
        "held_ticks": walk.held_ticks,
        "deadline_misses": None,  # the simulation waits for the controller: there is no deadline
    }


@dataclass(frozen=True, slots=True)
class _Ending:
    """Outcome and reason of a walk, diagnosis of a bad one, whether both feet are set, what is near its bound."""

    outcome: str
    reason: str
    diagnosis: Diagnosis | None = None
    stands: bool = False
    near: str = ""

    def as_table(self, setup: Setup) -> dict[str, Any]:
        """Return the part of ``result.json``."""
        why = "" if self.diagnosis is None else str(self.diagnosis)
        diagnosis = None if self.diagnosis is None else _with_files(self.diagnosis, setup)
        reason = f"{self.reason}{why}"
        return {"outcome": self.outcome, "reason": reason, "diagnosis": diagnosis, "is_standing": self.stands}


def _with_files(diagnosis: Diagnosis, setup: Setup) -> dict[str, Any]:
    """Return the part of ``result.json``; the advice names the files of its keys."""
    table = diagnosis.as_table()
    return table | {"advice": table["advice"] and setup.with_files(table["advice"])}


def _ending(walk: SimulatedWalk, stands: bool, failure: str) -> _Ending:
    """Return how the walk ended; a controller that finished its step and gave up stands, but has not walked."""
    if stands and walk.controller.state is not WalkingState.STOPPED:
        return _Ending(WALKED, walk.controller.reason, stands=True)
    if walk.robot.fall is not None:
        reason = f"{walk.robot.fall.reason} at {walk.robot.fall.time:.2f} s{_freeze_before(walk)}"
        return _Ending(_FELL, reason, diagnose_walk(walk))
    if failure == _INTERRUPTED:
        return _Ending(_STOPPED, f"{_INTERRUPTED} at {walk.time:.2f} s")
    why, tilt = _stop_in_words(walk), final_tilt(walk)
    if failure:
        why = failure if failure == walk.overdue else f"{failure} at {walk.time:.2f} s"
    if tilt > _LEANING:
        leaning = f"left leaning by {math.degrees(tilt):.0f}° at {walk.time:.2f} s"
        return _Ending(_FELL, f"{why}; {leaning}", diagnose_walk(walk))
    stands = walk.controller.state is WalkingState.STOPPED
    since = "" if stands or failure else f"; it has not fallen by {walk.time:.2f} s"
    return _Ending(_STOPPED, f"{why}{since}", diagnose_walk(walk), stands)


def _judged(ending: _Ending, walk: SimulatedWalk, error: EndError) -> _Ending:
    """Return how a walk ended, judged by its command where the controller takes it for done; all pushes are named."""
    if ending.outcome != WALKED:
        return ending
    judged = judged_walk(walk, error)
    if not (found := complaints_of(judged)):
        return replace(ending, near=near_bounds(judged))
    diagnosis = replace(diagnose_walk(walk), pushes=walk.acted_pushes)
    return _Ending(WALKED_BADLY, "; ".join(found), diagnosis, stands=True)


def _freeze_before(walk: SimulatedWalk) -> str:
    """Return when and why a robot froze long before it fell; nothing where it froze as it fell, or did not."""
    freeze, fall = walk.freezing, walk.robot.fall
    if freeze is None or fall is None or fall.time - freeze.time < _LONG_BEFORE:
        return ""
    return f", after it froze at {freeze.time:.2f} s: {freeze.reason}"


def _stop_in_words(walk: SimulatedWalk) -> str:
    """Return why the controller stopped, when that was, not when the simulation ended, and what the robot did then."""
    controller = walk.controller
    event = next((event for event in controller.safety_events if event.text == controller.reason), None)
    what = {WalkingState.STOPPED: "; it closed its feet and stands", WalkingState.FAULT: ", where it froze"}
    if event is None or controller.state not in what:
        return f"{controller.reason} at {walk.time:.2f} s"
    return f"{event.text} at {event.time:.2f} s{what[controller.state]}"


def _largest_tilt(walk: SimulatedWalk, logged: float | None) -> float | None:
    """Return the largest tilt of the base, [rad]: a robot that falls tilts on after the last tick of its log."""
    last = final_tilt(walk) if walk.is_down else math.nan
    return logged if not math.isfinite(last) else max(last, logged or 0.0)


def healthy_bounds(setup: Setup) -> dict[str, float]:
    """Return up to where figures of the result are healthy, of margins from where on, by the names of the figures.

    M_s of balance is that on a soft floor, so it is bounded on such a floor alone; landings are on a rigid one: on soft
    ground a sole touches as much earlier as it sinks.
    """
    is_rigid, is_pushed = setup.simulation.ground.kind == GroundKind.RIGID, bool(setup.simulation.pushes)
    landings = {"early_landing_s.median": EARLY_LANDING, "bounces_per_landing": BOUNCES}
    if not is_pushed and (setup.plant is Plant.IDEAL or setup.walking.walking.control is not ControlMode.TORQUE):
        landings["landing_force_weights"] = LANDING_FORCE
    margins = {"gain_db": GAIN_MARGIN, "phase_deg": PHASE_MARGIN, "peak": PEAK}
    return {
        **healthy_errors(setup),
        "foot_slip_m": SLIP_TOLERANCE,
        **(landings if is_rigid else {}),
        **({"stability_margins.balance_peak": PEAK} if stands_softly(setup) else {}),
        **{f"stability_margins.margins.{name}": bound for name, bound in margins.items()},
    }


def _end_before(push: Push, outcome: WalkOutcome) -> str:
    """Return what came before a push that never acted, as the beginning of its text; nothing for others."""
    end = "fall" if outcome.walk.is_down else "end"
    return f"after the {end}: " * (push.start >= outcome.walk.time)


def _for_the_report(outcome: WalkOutcome) -> dict[str, Any]:
    """Return what the plots need beside the figures."""
    setup = outcome.walk.setup
    robot = setup.robot
    lower, upper = outcome.walk.layers.joint_limits
    return {
        "title": robot.title,
        "drawn_values": [
            {
                "effect": drawn.effect,
                "unit": drawn.unit,
                "values": dict(zip(drawn.labels, drawn.values.tolist(), strict=True)),
                "fractions": dict(zip(drawn.labels, drawn.fractions.tolist(), strict=True)),
            }
            for drawn in outcome.walk.robot.drawn_values()
        ],
        "stability_margins": None if (margins := known_margins(setup)[0]) is None else asdict(margins),
        "healthy": healthy_bounds(setup),
        "pushes": [f"{_end_before(push, outcome)}{push}" for push in setup.simulation.pushes],
        "faults": [f"{fault}" for fault in setup.simulation.faults],
        "push_times_s": [[push.start, push.end] for push in setup.simulation.pushes],
        "sole": {"x": list(robot.sole.x), "y": list(robot.sole.y)},
        "joints": list(robot.joints),
        "legs": {str(side): list(robot.joint_groups[f"{side}_leg"].joints) for side in Side},
        "torque_limits": outcome.walk.layers.torque_limits.tolist(),
        "joint_limits": {"lower": lower.tolist(), "upper": upper.tolist()},
    }
