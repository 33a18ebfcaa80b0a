"""One walk from the command line: says what it does, walks, shows, films, reports."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from gradiva.cli.idle_settings import idle_settings
from gradiva.cli.live_view import LiveView
from gradiva.cli.output import JsonTarget, check_writable, console_beside, progress_bar
from gradiva.cli.walk_options import WalkOptions
from gradiva.cli.walk_text import opening, outcome_line, result_table
from gradiva.common import ConfigError, nearest_name
from gradiva.experiments import (
    Observer,
    SimulatedWalk,
    WalkOutcome,
    WalkRequest,
    check_footing,
    check_slope,
    create_run,
    finish_walk,
    plan_from_start,
    save_walk,
)
from gradiva.planner import WalkingPlan
from gradiva.simulation.film import Camera, FilmFormat, film
from gradiva.telemetry.replay import Motion
from gradiva.telemetry.walk_record import WalkRecord

_SETTLING = 3.0  # [s] of standing before and after the walk
_BAR_PERIOD = 0.1  # [s] between updates of the progress bar


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """The options of ``gradiva walk`` that say what becomes of the result, as they were written.

    Attributes:
        out: Folder of the runs.
        json_to: File of the result, or ``-``.
        record: File of the film.
        film_size: WIDTHxHEIGHT in pixels.
        camera: Name of a `Camera`.
        view: Whether the robot is shown in the browser.
    """

    out: str = "runs"
    json_to: str | None = None
    record: str | None = None
    film_size: str | None = None
    camera: str | None = None
    view: bool = False

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
    """Walk, and write what was asked for; return the exit status.

    Raises:
        WalkingError: The input is wrong, or a film cannot be drawn.
        KeyboardInterrupt: The walk was interrupted; what there is of it is written.
    """
    target = JsonTarget(results.json_to)
    console = console_beside(target)
    film_path, film_format = results.film_path(), results.film_format()
    request = options.request()
    observers: list[Observer] = []
    with request.setup.naming_places():
        check_footing(request.setup)
        check_slope(request.setup)
        plan = plan_from_start(request.setup, request.command)
        walk = SimulatedWalk(request.setup, request.seed, observers=(lambda walk: _notify(observers, walk),))
    folder = create_run(request, Path(results.out))
    for line in opening(request, plan):
        console.print(line, markup=False, soft_wrap=True)
    _warn(console, idle_settings(options.settings, request.setup))
    with ExitStack() as stack:
        view = stack.enter_context(LiveView(request.setup.robot, plan, walk.time, console)) if results.view else None
        observers += [view] if view is not None else []
        with _progress(console, request, plan) as progress:
            observers.append(progress)
            outcome = finish_walk(request, walk)
        with console.status("writing the report"):
            save_walk(outcome, folder)
        target.write(outcome.result)
        _print_outcome(console, outcome)
        _warn(console, _idle_pushes(outcome))
        if film_path is not None:
            _film(console, outcome, film_path, film_format)
        if view is not None and not outcome.was_interrupted:
            view.replay(walk.recorder.log)
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    return 0 if outcome.walked else 1


def _notify(observers: list[Observer], walk: SimulatedWalk) -> None:
    for observe in observers:
        observe(walk)


def _print_outcome(console: Console, outcome: WalkOutcome) -> None:
    console.print(outcome_line(outcome.result), soft_wrap=True)
    if advice := (outcome.result["diagnosis"] or {}).get("advice"):
        console.print(f"next    {advice}", markup=False, soft_wrap=True)
    console.print(result_table(outcome.result))
    console.print(
        f"report  {outcome.result['report'] or 'none: the robot never balanced'}", markup=False, soft_wrap=True
    )


def _idle_pushes(outcome: WalkOutcome) -> list[str]:
    end, pushes = outcome.walk.time, outcome.request.setup.simulation.pushes
    return [f"warning: the walk ended at {end:.2f} s, before the {push}" for push in pushes if push.start >= end]


def _warn(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(line, style="yellow", markup=False, soft_wrap=True)


@contextmanager
def _progress(console: Console, request: WalkRequest, plan: WalkingPlan) -> Iterator[Observer]:
    """A bar over the simulated time."""
    total = request.setup.walking.walking.prepare_duration + plan.end_time - plan.start_time + _SETTLING
    last = 0.0
    with progress_bar(console, request.setup.robot.title, total) as update:

        def observe(walk: SimulatedWalk) -> None:
            nonlocal last
            if time.monotonic() - last > _BAR_PERIOD:
                last = time.monotonic()
                update(walk.time, f"{walk.controller.state} {walk.time:5.1f} s")

        yield observe


def _film(console: Console, outcome: WalkOutcome, path: Path, form: FilmFormat) -> None:
    """Film the walk with a progress bar; a robot that never balanced has left nothing to film."""
    robot, log = outcome.request.setup.robot, outcome.walk.recorder.log
    if not len(log):
        _warn(console, [f"warning: no film {path}: the robot never balanced"])
        return
    motion = Motion.read(WalkRecord(log, robot.joints), robot, form.rate)
    pose = motion.base_positions, motion.base_rotations, motion.joint_positions
    with progress_bar(console, f"filming {path}", None) as update:

        def observe(done: int, total: int) -> None:
            update(done, f"filming {path}, frame {done} of {total}", total)

        film(robot, motion.times, *pose, path, form, observe)
    console.print(f"film    {path}", markup=False, soft_wrap=True)
