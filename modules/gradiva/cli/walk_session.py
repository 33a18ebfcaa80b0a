"""One walk from the command line: says what it does, walks, shows, films, reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from gradiva.cli.idle_settings import idle_settings
from gradiva.cli.live_view import LiveView
from gradiva.cli.output import JsonTarget, check_writable, console_beside, progress_bar
from gradiva.cli.walk_options import WalkOptions
from gradiva.cli.walk_text import opening, outcome_line, result_table
from gradiva.common import ConfigError
from gradiva.experiments import (
    Observer,
    SimulatedWalk,
    WalkOutcome,
    WalkRequest,
    check_footing,
    create_run,
    finish_walk,
    plan_from_start,
    save_walk,
)
from gradiva.planner import WalkingPlan
from gradiva.simulation.film import film
from gradiva.telemetry.motion import Motion
from gradiva.telemetry.walk_record import WalkRecord

_SETTLING = 3.0  # [s] of standing before and after the walk
_BAR_PERIOD = 0.1  # [s] between updates of the progress bar
_FRAME_RATE = 30.0  # [1/s]


def walk_session(options: WalkOptions, out: str, json_to: str | None, record: str | None, view: bool) -> int:
    """Walk, and write what was asked for; return the exit status.

    Raises:
        WalkingError: The input is wrong, or a film cannot be drawn.
        KeyboardInterrupt: The walk was interrupted; what there is of it is written.
    """
    target = JsonTarget(json_to)
    console = console_beside(target)
    film_path = _film_path(record)
    request = options.request()
    check_footing(request.setup)
    plan = plan_from_start(request.setup, request.command)
    observers: list[Observer] = []
    walk = SimulatedWalk(request.setup, request.seed, observers=(lambda walk: _notify(observers, walk),))
    folder = create_run(request, Path(out))
    for line in opening(request, plan):
        console.print(line, markup=False, soft_wrap=True)
    _warn(console, idle_settings(options.settings, request.setup))
    with ExitStack() as stack:
        if view:
            observers.append(stack.enter_context(LiveView(request.setup.robot, plan, walk.time, console)))
        observers.append(stack.enter_context(_progress(console, request, plan)))
        outcome = finish_walk(request, walk)
    with console.status("writing the report"):
        save_walk(outcome, folder)
    target.write(outcome.result)
    _print_outcome(console, outcome)
    _warn(console, _idle_pushes(outcome))
    if film_path is not None:
        with progress_bar(console, f"filming {film_path}", None) as update:
            _film(outcome, film_path, lambda done, total: update(done, f"filming {film_path}", total))
        console.print(f"film    {film_path}", markup=False, soft_wrap=True)
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    return 0 if outcome.walked else 1


def _notify(observers: list[Observer], walk: SimulatedWalk) -> None:
    for observe in observers:
        observe(walk)


def _print_outcome(console: Console, outcome: WalkOutcome) -> None:
    console.print(outcome_line(outcome.result), soft_wrap=True)
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


def _film_path(record: str | None) -> Path | None:
    if record is None:
        return None
    path = Path(record)
    if path.suffix != ".mp4":
        raise ConfigError(f"--record {record}: expected a file that ends in .mp4")
    check_writable(path)
    return path


def _film(outcome: WalkOutcome, path: Path, on_frame: Callable[[int, int], None]) -> None:
    robot, log = outcome.request.setup.robot, outcome.walk.recorder.log
    motion = Motion.read(WalkRecord(log, robot.joints), robot, _FRAME_RATE)
    pose = motion.base_positions, motion.base_rotations, motion.joint_positions
    film(robot, motion.times, *pose, path, on_frame=on_frame)
