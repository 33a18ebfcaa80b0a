"""Carry out one walk of the command line: describe it, walk, show, film, report."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradiva.cli.output import STDOUT, JsonTarget, check_writable, console_beside, progress_bar, text_console
from gradiva.cli.walk_options import WalkOptions, idle_settings, idle_tables
from gradiva.common import ConfigError, NDArray, Side, nearest_name
from gradiva.planner import Command, VelocityCommand, WalkingPlan
from gradiva.robot_model import RobotDescription
from gradiva.setup import Plant, Setup, check_margins, simulated_robot
from gradiva.simulated_walk import (
    LiveView,
    Observer,
    SimulatedWalk,
    WalkOutcome,
    WalkRequest,
    check_footing,
    check_slope,
    create_run,
    finish_walk,
    footing_note,
    healthy_bounds,
    joint_notes,
    plan_from_start,
    response_note,
    run_walk,
    save_walk,
    sibling_cause,
    slippery_note,
    slope_note,
)
from gradiva.simulation import Bump, GroundKind, floor_rotation, ground_name
from gradiva.simulation.film import Camera, FilmedMotion, FilmedSole, FilmFormat, check_film, film
from gradiva.telemetry import (
    ERRORS,
    FOOT,
    KEY_FIGURES,
    Motion,
    RunFolder,
    SignalLog,
    WalkRecord,
    adapted_steps,
    further_steps,
    number,
    unhealthy_figures,
    unsaved,
    unusual_figures,
)

_SETTLING = 3.0  # [s] of standing before and after the walk
_BAR_PERIOD = 0.1  # [s] between updates of the progress bar
BESIDE_OTHERS = FilmFormat(320, 240, rate=20.0)
"""Films of a comparison, small: those of four walks of ten seconds fit into its page."""
_FILM_LINES = 10  # that say how far a film is, where there is no terminal for a bar
_PALE = 0.3  # [-] opacity of a planned foothold that was moved
_BESIDE_SPEED = {"duration_s", "commanded_speed_mps", "mean_speed_mps", "peak_speed_mps"}
_LANDINGS = {
    "early_landing_s.median",
    "early_landing_s.max",
    "bounces_per_landing",
}  # named beyond healthy
_REPORT_ALONE = _BESIDE_SPEED | _LANDINGS
_MOST_VARIANTS = 6
_MOST_DISTURBANCES = 4  # in the line that names them
_NAMES = {"from_files": "files", "push": "pushes", "fault": "faults", "bump": "bumps"}
"""Arguments of ``gradiva walk`` that `WalkOptions` has by another name."""
_COLOURS = {"walked": "bold green", "walked badly": "bold yellow", "fell": "bold red", "stopped": "bold yellow"}


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """The options of ``gradiva walk`` for its result, as they were written.

    Attributes:
        out: Folder of the runs.
        json_to: File of the result, or ``-``.
        record: File of the film.
        film_size: WIDTHxHEIGHT in pixels.
        camera: Name of a `Camera`.
        view: Whether the robot is shown in the browser.
        cause: Whether the cause of a bad end is looked for by further walks.
    """

    out: str = "runs"
    json_to: str | None = None
    record: str | None = None
    film_size: str | None = None
    camera: str | None = None
    view: bool = False
    cause: bool = True

    def film_path(self) -> Path | None:
        """Return where the film goes, None where none is wanted.

        Raises:
            ConfigError: It is no ``.mp4``, or cannot be written.
        """
        if self.record is None:
            for option, value in (("--film-size", self.film_size), ("--camera", self.camera)):
                if value is not None:
                    raise ConfigError(f"{option} is for a film: add --record FILE.mp4")
            return None
        path = Path(self.record)
        if path.suffix != ".mp4":
            raise ConfigError(f"--record {self.record}: expected a file that ends in .mp4")
        check_writable(path)
        return path

    def film_format(self) -> FilmFormat:
        """Return size and camera of the film.

        Raises:
            ConfigError: One of them is none.
        """
        cameras = [str(camera) for camera in Camera]
        if self.camera is not None and self.camera not in cameras:
            raise ConfigError(f"unknown --camera '{self.camera}'{nearest_name(self.camera, cameras)}")
        size = re.fullmatch(r"(\d+)[xX](\d+)", self.film_size or "640x480")
        if size is None:
            raise ConfigError(f"--film-size {self.film_size}: expected WIDTHxHEIGHT in pixels, such as 1280x720")
        try:
            return FilmFormat(int(size[1]), int(size[2]), Camera(self.camera or Camera.DIAGONAL))
        except ConfigError as error:
            raise ConfigError(f"--film-size {self.film_size}: {error}") from None


def walk_session(options: WalkOptions, results: ResultOptions) -> int:
    """Walk, and write the result, the report and the film; return the exit status.

    Raises:
        WalkingError: The input is wrong, or a film cannot be drawn.
        KeyboardInterrupt: The walk was interrupted; log and report of its part are written.
    """
    target = JsonTarget(results.json_to)
    console = console_beside(target)
    film_path, film_format = results.film_path(), results.film_format()
    request = options.request()
    observers: list[Observer] = []
    with request.setup.naming_places():
        check_footing(request.setup)
        check_slope(request.setup)
        little_margin = check_margins(request.setup)
        plan = plan_from_start(request.setup, request.command)
        check_moments(request, plan)
        if film_path is not None:
            check_film(request.setup.simulated_robot, film_format)
        walk = SimulatedWalk(request.setup, request.seed, observers=(lambda walk: _notify(observers, walk),))
    folder = create_run(request, Path(results.out))
    for line in opening(request, plan):
        console.print(line, markup=False, soft_wrap=True)
    _warn(console, plan_warnings(walk, plan, request.seed))
    _warn(console, [*filter(None, [little_margin]), *idle_settings(options.settings, request.setup)])
    _warn(console, idle_tables(map(Path, options.files), request.setup))
    with ExitStack() as stack:
        view = stack.enter_context(LiveView(request.setup, plan, walk.time, console.print)) if results.view else None
        observers += [view] if view is not None else []
        with _progress(console, request, plan) as (progress, search):
            observers.append(progress)
            report = partial(console.print, style="dim", markup=False, soft_wrap=True) if results.cause else None
            outcome = finish_walk(request, walk, report, search)
        with console.status("writing the report"):
            lost = save_walk(outcome, folder)
        _print_outcome(console, outcome, folder)
        lost += unsaved(Path(results.json_to or STDOUT), lambda: target.write(outcome.result))
        _warn(console, idle_disturbances(outcome))
        if film_path is not None:
            lost += unsaved(film_path, partial(_film, console, outcome, film_path, film_format))
        _warn(console, ["not saved: " + "; ".join(lost)] if lost else [])
        if view is not None and not outcome.was_interrupted:
            view.replay(walk.recorder.log)
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    return 0 if outcome.walked and not lost else 1


def check_moments(request: WalkRequest, plan: WalkingPlan) -> None:
    """Pass when all pushes and faults begin before the end of the walk, its last stand included.

    Raises:
        ConfigError: One begins later.
    """
    end = planned_end(request, plan)
    simulation = request.setup.simulation
    disturbances = [*(f"{push}" for push in simulation.pushes if push.start >= end)]
    disturbances += [f"fault {fault}" for fault in simulation.faults if fault.start >= end]
    if disturbances:
        raise ConfigError(f"the {disturbances[0]} comes too late: the walk is planned to end at {end:.1f} s")


def planned_end(request: WalkRequest, plan: WalkingPlan) -> float:
    """Return when the walk is planned to end, the preparation and the stands before and after it included, [s]."""
    return request.setup.walking.walking.prepare_duration + plan.end_time - plan.start_time + _SETTLING


def variants(settings: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the settings of each walk: every combination of the values of keys that are set several times.

    Raises:
        ConfigError: That is one walk, or more than a page can show.
    """
    by_key: dict[str, list[str]] = {}
    for setting in settings:
        by_key.setdefault(setting.partition("=")[0].strip(), []).append(setting)
    combinations = list(product(*by_key.values()))
    if len(combinations) < 2:
        raise ConfigError(
            "nothing to compare: name two runs or more, or one key with several values, --set KEY=1 --set KEY=2"
        )
    if len(combinations) > _MOST_VARIANTS:
        raise ConfigError(f"the --set make {len(combinations)} walks: a comparison takes {_MOST_VARIANTS} at most")
    return combinations


def walk_variants(options: Mapping[str, Any], out: Path, is_filmed: bool = False) -> list[RunFolder]:
    """Walk the variants of a walk, all of which are checked before the first; return the folders of their runs.

    A variant that falls is blamed on what it has otherwise than one that stands, in a line after the last walk.

    Args:
        options: Arguments of ``gradiva walk``, of which a key of ``settings`` may have several values.
        out: Folder of the runs.
        is_filmed: Whether films can be drawn is checked before the first walk as well.

    Raises:
        WalkingError: An option is wrong, or there are no variants, or no film can be drawn.
    """
    console, folders, outcomes = text_console(), list[RunFolder](), list[WalkOutcome]()
    each = variants(options["settings"] or ())
    requests = [WalkOptions.given({**options, "settings": settings}).request() for settings in each]
    for request in requests:
        check_moments(request, plan_from_start(request.setup, request.command))
    if is_filmed:
        check_film(requests[0].setup.simulated_robot, BESIDE_OTHERS)
    for settings, request in zip(each, requests, strict=True):
        if little_margin := check_margins(request.setup):
            _warn(console, [f"{', '.join(settings)}: {little_margin}"])
        with console.status(f"walking with {', '.join(settings)}"):
            outcomes.append(run_walk(request))
        folders.append(RunFolder(outcomes[-1].save(out)))
        _print_variant(console, settings, outcomes[-1])
    standing = [settings for settings, outcome in zip(each, outcomes, strict=True) if outcome.stands]
    for settings, outcome, folder in zip(each, outcomes, folders, strict=True):
        if standing and not outcome.stands:
            cause = sibling_cause(settings, standing)
            _warn(console, save_walk(outcome.with_cause(cause), folder))
            console.print(f"{', '.join(settings)}: cause: {cause.text}", markup=False, soft_wrap=True)
    return folders


def _print_variant(console: Console, settings: Sequence[str], outcome: WalkOutcome) -> None:
    console.print(f"{escape(', '.join(settings))}: {outcome_line(outcome.result)}", soft_wrap=True)


def _notify(observers: list[Observer], walk: SimulatedWalk) -> None:
    for observe in observers:
        observe(walk)


def _print_outcome(console: Console, outcome: WalkOutcome, folder: RunFolder) -> None:
    console.print(outcome_line(outcome.result), soft_wrap=True)
    if advice := (outcome.result["diagnosis"] or {}).get("advice"):
        console.print(f"next    {advice}", markup=False, soft_wrap=True)
    if at_limits := outcome.result["position_limits"]:
        _warn(console, [f"warning: {at_limits}"])
    if near := outcome.result["near_bounds"]:
        _warn(console, [f"near a bound: it {near}"])
    if oscillation := outcome.result["chatter"]["text"]:
        _warn(console, [f"warning: {oscillation}"])
    if further := further_steps(outcome.result):
        console.print(further, markup=False, soft_wrap=True)
    if unusual := unusual_figures(outcome.result):
        console.print(unusual, markup=False, soft_wrap=True)
    if not outcome.result["usual"]["figures"]:
        console.print(f"usual   {outcome.result['usual']['of']}", style="dim", markup=False, soft_wrap=True)
    if unhealthy := unhealthy_figures(outcome.result | {"healthy": healthy_bounds(outcome.request.setup)}):
        console.print(unhealthy, markup=False, soft_wrap=True)
    console.print(result_table(outcome.result))
    for name, acted in (("pushed", acted_pushes(outcome)), ("faults", acted_faults(outcome))):
        if acted:
            console.print(f"{name}  {acted}", markup=False, soft_wrap=True)
    if outcome.result["report"] or not len(outcome.log):
        none = f"none, and no log, as the robot never balanced; its result is in {folder.path}"
        report = outcome.result["report"] or none
        console.print(f"report  {report}", markup=False, soft_wrap=True)


def acted_pushes(outcome: WalkOutcome) -> str:
    """Return the pushes that began before the end of the walk, the first ones of many; empty where none did."""
    return _first_of([f"{push}".removeprefix("push of ") for push in outcome.walk.acted_pushes])


def acted_faults(outcome: WalkOutcome) -> str:
    """Return the faults that began before the end of the walk, the first ones of many; empty where none did."""
    return _first_of([f"{fault}" for fault in outcome.walk.robot.faults if fault.start < outcome.walk.time])


def _first_of(acted: list[str]) -> str:
    more = f" and {len(acted) - _MOST_DISTURBANCES} more" * (len(acted) > _MOST_DISTURBANCES)
    return f"{'; '.join(acted[:_MOST_DISTURBANCES])}{more}"


def idle_disturbances(outcome: WalkOutcome) -> list[str]:
    """Return a warning for each push and fault that began after the walk, push without force and bump not met."""
    end, simulation = outcome.walk.time, outcome.request.setup.simulation
    late = [f"{push}" for push in simulation.pushes if push.start >= end]
    late += [f"fault {fault}" for fault in simulation.faults if fault.start >= end]
    without_force = [f"warning: the {push} has no force" for push in simulation.pushes if not push.is_felt]
    unmet = [f"warning: no foot came to the {bump}" for bump in simulation.ground.bumps if not _is_met(bump, outcome)]
    return [*(f"warning: the walk ended at {end:.2f} s, before the {each}" for each in late), *without_force, *unmet]


def _is_met(bump: Bump, outcome: WalkOutcome) -> bool:
    """Return whether a sole came above a bump or close to it, as far as the log goes."""
    log, sole = outcome.log, outcome.request.setup.robot.sole
    if not len(log):
        return False
    feet = np.vstack([log[f"simulation::{side}_foot::position"][:, :2] for side in Side])
    aside = np.maximum(np.abs(feet - [bump.x, bump.y]) - [0.5 * bump.length, 0.5 * bump.width], 0.0)
    reach = math.hypot(max(map(abs, sole.x)), max(map(abs, sole.y)))
    return bool(np.linalg.norm(aside, axis=1).min() < reach)


def _warn(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(line, style="yellow", markup=False, soft_wrap=True)


@contextmanager
def _progress(
    console: Console, request: WalkRequest, plan: WalkingPlan
) -> Iterator[tuple[Observer, Callable[[int, int, str], None]]]:
    """Show a bar over the simulated time, then over the search for a cause; yield what each of them calls."""
    total, last = planned_end(request, plan), 0.0
    with progress_bar(console, request.setup.robot.title, total) as update:

        def observe(walk: SimulatedWalk) -> None:
            """Show state and time of the walk, some times a second."""
            nonlocal last
            if time.monotonic() - last > _BAR_PERIOD:
                last = time.monotonic()
                update(walk.time, f"{walk.controller.state} {walk.time:5.1f} s")

        def search(done: int, most: int, what: str) -> None:
            """Show which walk of the search for a cause is walked now."""
            update(done, f"looks for the cause, walk {done + 1} of at most {most}: {what}", most)

        yield observe, search


def _film(console: Console, outcome: WalkOutcome, path: Path, form: FilmFormat) -> None:
    """Film the walk with a progress bar; a robot that never balanced has left nothing to film."""
    setup = outcome.request.setup
    record, floor = WalkRecord(outcome.walk.recorder.log, setup.robot.joints), setup.simulation.ground.world_rotation
    _film_record(console, record, setup.simulated_robot, path, form, floor)


def film_run(folder: RunFolder) -> None:
    """Film a finished run into its folder, small enough for a page with others; one that has a film keeps it.

    Raises:
        WalkingError: The run has no log, its robot is not installed, or no film can be drawn.
    """
    if not any(folder.path.glob("*.mp4")):
        tables, path = folder.read_config(), folder.path / "film.mp4"
        robot, ground = simulated_robot(tables), tables.get("simulation", {}).get("ground", {})
        floor = floor_rotation(ground.get("slope_forward", 0.0), ground.get("slope_left", 0.0))
        check_film(robot, BESIDE_OTHERS)
        try:
            _film_record(text_console(), WalkRecord.read(folder), robot, path, BESIDE_OTHERS, floor)
        except BaseException:  # also Ctrl-C: half a film would be taken for one
            path.unlink(missing_ok=True)
            raise


def _film_record(
    console: Console, record: WalkRecord, robot: RobotDescription, path: Path, form: FilmFormat, floor: NDArray
) -> None:
    """Film a record on a floor of a rotation in level axes, shape (3, 3)."""
    log = record.log
    if not len(log):
        _warn(console, [f"warning: no film {path}: the robot never balanced"])
        return
    motion, soles = Motion.read(record, robot, form.rate), filmed_soles(log, robot)
    filmed = FilmedMotion(motion.times, motion.base_positions, motion.base_rotations, motion.joint_positions)
    with progress_bar(console, f"filming {path}", None) as update:

        def observe(done: int, total: int) -> None:
            text = f"filming {path}, frame {done} of {total}"
            update(done, text, total)
            if not console.is_terminal and done * _FILM_LINES // total > (done - 1) * _FILM_LINES // total:
                console.print(text, markup=False, soft_wrap=True)

        film(robot, filmed, path, form, observe, soles, floor)
    console.print(f"film    {path}", markup=False, soft_wrap=True)


def filmed_soles(log: SignalLog, robot: RobotDescription) -> list[FilmedSole]:
    """Return what a film shows of step adaptation: planned footholds, pale, and those where the feet stood instead."""
    soles = []
    for step in adapted_steps(log):
        nominal = step.nominal
        corners, height = nominal.corners(robot.sole), float(nominal.position[2]) + robot.sole.z
        red, green, blue = (int(FOOT[nominal.side][k : k + 2], 16) / 255.0 for k in (1, 3, 5))
        soles.append(FilmedSole(corners, height, (red, green, blue, _PALE), nominal.time))
        soles.append(FilmedSole(corners + step.move, height, (red, green, blue, 1.0), nominal.time))
    return soles


def opening(request: WalkRequest, plan: WalkingPlan) -> list[str]:
    """Return the lines with which a walk begins: the command, and notes on the footing."""
    setup = request.setup
    drives = setup.robot.drives_note if setup.plant is Plant.ROBOT else None
    notes = drives, footing_note(setup), response_note(setup), slope_note(setup)
    return [describe_command(request, plan), *(note for note in notes if note)]


def plan_warnings(walk: SimulatedWalk, plan: WalkingPlan, seed: int) -> list[str]:
    """Return warnings of a floor that is too slippery for a plan and of joints that it overtaxes."""
    notes = slippery_note(walk.setup, plan, seed), *joint_notes(walk.layers, plan)
    return [f"warning: {note}" for note in notes if note]


def describe_command(request: WalkRequest, plan: WalkingPlan) -> str:
    """Return one line about the command, its steps and the controller."""
    tick = request.setup.walking.walking
    steps = len(plan.steps)
    kind = request.setup.simulation.ground.kind
    ground = "" if kind == GroundKind.RIGID else f" on {ground_name(kind)} ground"
    return (
        f"{request.setup.robot.title} walks {request.command}{_for_how_long(request.command)}:"
        f" {steps} step{'s' * (steps != 1)}{_planned_duration(request.command, plan)},"
        f" {tick.model} with {tick.control} control{ground},"
        f" {request.setup.plant} plant{_bending(request.setup)}"
    )


def _for_how_long(command: Command) -> str:
    """Return the duration that is commanded, without shift of load, closing step and standing; else nothing."""
    if isinstance(command, VelocityCommand) and command.duration is not None:
        return f" for {command.duration:g} s, ramps included"
    return ""


def _planned_duration(command: Command, plan: WalkingPlan) -> str:
    """Return the duration of the plan, standing included, where the command has none."""
    return "" if _for_how_long(command) else f" in {plan.end_time - plan.start_time:.1f} s"


def _bending(setup: Setup) -> str:
    """Return the stiffness of the plant's flexible joints as the end of a sentence; nothing of a rigid robot."""
    true, known = (
        [joint.stiffness for joint in robot.flexible_joints] for robot in (setup.simulated_robot, setup.robot)
    )
    if not true:
        return ""
    belief = "" if known == true else f", which the controller takes for {_range(known)}"
    unknown = ", which the controller does not know" if setup.unmodelled_stiffness else belief
    return f", links bend by {_range(true)} N·m/rad{unknown}"


def _range(values: Sequence[float]) -> str:
    """Return the least and the largest of some values, or the one value that they all have."""
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def outcome_line(result: Mapping[str, Any]) -> str:
    """Return one line about the outcome, with console markup."""
    outcome = str(result["outcome"])
    return f"[{_COLOURS[outcome]}]{outcome}[/]: {escape(str(result['reason']))}"


def result_table(result: Mapping[str, Any]) -> Table:
    """Return the key figures."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(2):
        table.add_column(style="dim")
        table.add_column(justify="right")
    figures = _figures(result)
    for left, right in zip_longest(figures[::2], figures[1::2], fillvalue=("", "")):
        table.add_row(*left, *right)
    return table


def _figures(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return label and value of the key figures, the tracking errors and the tick's duration."""
    figures = [
        (figure.name(result), ", ".join(filter(None, (figure.with_unit(result), figure.remark(result)))))
        for figure in KEY_FIGURES
        if figure.is_shown(result) and figure.key not in _REPORT_ALONE
    ]
    errors = [(f"{name} error rms, max", _pair(result[key])) for key, name in ERRORS]
    solver = [("MPC solver median, p99, max", _solver(result["mpc"]))] if result.get("mpc") else []
    tick = ("tick time median, p99", _tick(result["tick_us"]["total"]))
    return [*figures, *_pose(result), *errors, tick, *solver]


def _pose(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the pose of the middle of the feet at the end; nothing of a robot that lies on the ground."""
    x, y, yaw = result["final_pose"]
    pose = f"({_number(x, 2)}, {_number(y, 2)}) m, {_number(math.degrees(yaw), 0)}°"
    if result.get("outcome") == "fell":
        return []
    return [("final pose" if result.get("is_standing", True) else "middle of the feet, in mid-walk", pose)]


def _number(value: float, digits: int) -> str:
    return number(value, 1.0, digits)


def _pair(error: Mapping[str, float | None]) -> str:
    if error["rms"] is None or error["max"] is None:
        return "–"
    return f"{number(error['rms'], 1e3, 0)}, {number(error['max'], 1e3, 0)} mm"


def _solver(times: Mapping[str, float]) -> str:
    return ", ".join(number(times[f"solve_{name}_ms"], 1.0, 1) for name in ("median", "p99", "max")) + " ms"


def _tick(spread: Mapping[str, float | None]) -> str:
    if spread["median"] is None or spread["p99"] is None:
        return "–"
    return f"{spread['median']:.0f}, {spread['p99']:.0f} µs"
