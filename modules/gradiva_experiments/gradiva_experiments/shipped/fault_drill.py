"""Fault drill: faults of an application while its robot walks, and the state in which each has to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradiva.middleware import NAMED_ERRORS
from gradiva.setup import Plant, Setup, load_setup
from gradiva.simulated_walk import COORDINATOR, SIMULATOR
from gradiva.simulation import Bump
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.shipped.drilled_walk import DrilledWalk, drilled_application
from gradiva_experiments.shipped.drills import (
    Drill,
    bump_below,
    bump_drill,
    free_running_drills,
    lockstep_drills,
    quick_drills,
)


def run_fault_drill(run: ExperimentRun) -> None:
    """Drill an application on each plant, in lockstep and, unless quick, free running.

    The value is the tilt at the end, [deg].
    """
    for plant in run.options.plants:
        setup = load_setup(run.options.robot, plant=plant)
        drills = quick_drills(setup) if run.options.quick else lockstep_drills(setup)
        _drill_all(run, setup, drills, is_lockstep=True)
        if not run.options.quick:
            _drill_all(run, setup, [bump_drill()], is_lockstep=True, bumps=(bump_below(setup),))
            _drill_all(run, setup, free_running_drills(), is_lockstep=False)


def drilled(walk: DrilledWalk, drill: Drill, prepares: bool = True) -> Row:
    """Walk, let it go wrong, look at what came of it, and prepare and start the robot anew.

    Args:
        walk: Balances before and afterwards.
        drill: What goes wrong.
        prepares: Whether a robot that paused is stopped, prepared and started anew; else the next drill walks on.
    """
    before = walk.walker.status()["safety_events"]
    complaint = _error_of(lambda: _carry_out(walk, drill))
    complaint = complaint or _error_of(lambda: walk.await_port(COORDINATOR))  # the fault may have ended it
    status, truth = walk.walker.status(), walk.truth()
    row: Row = {
        "fault": drill.fault,
        "done": drill.done,
        "state": walk.state,
        "event": status["last_event"] if status["safety_events"] > before else "",
        "state_reason": walk.reason,
        "stands": walk.is_standing(),
        "recovered": None,
        "paper": None,
        "value": truth["tilt"],
    }
    if row["stands"]:
        complaint = complaint or drill.complaint(row["state"], row["state_reason"], row["event"])
    else:
        complaint = complaint or "the robot does not stand"
        walk.application.ask(SIMULATOR, "reset")
    if prepares or row["state"] != "paused" or not row["stands"]:
        error = _error_of(walk.get_ready)
        row["recovered"] = not error
        complaint = complaint or (error and f"not recovered: {error}")
    return {**row, "outcome": "failed" if complaint else "met", "reason": complaint}


def _drill_all(
    run: ExperimentRun, setup: Setup, drills: Sequence[Drill], is_lockstep: bool, bumps: Sequence[Bump] = ()
) -> None:
    time_of = "lockstep" if is_lockstep else "free running"
    common = {"robot": setup.robot.name, "plant": str(setup.plant), "time": time_of}
    with drilled_application(setup, is_lockstep, bumps) as walk:
        walk.get_ready()
        for drill in drills:
            prepares = not run.options.quick or drill is drills[-1]
            row = {**common, **drilled(walk, drill, prepares)}
            run.add_row(row)
            run.report(len(run.rows), None, f"{setup.plant}, {drill.fault}: {row['state']}, {row['state_reason']}")


def _carry_out(walk: DrilledWalk, drill: Drill) -> None:
    walk.walk_to_swing()
    drill.act(walk)
    if drill.walks_on:
        walk.close_feet()


def _error_of(act: Callable[[], None]) -> str:
    try:
        act()
    except NAMED_ERRORS as error:
        return str(error)
    return ""


EXPERIMENTS = (
    Experiment(
        "fault_drill",
        "Gradiva's own experiment",
        "Modules killed, stalls, failing sensors in the middle of a step: does the robot stand and walk again?",
        run_fault_drill,
        "tilt afterwards [°]",
        plants=(Plant.IDEAL, Plant.ROBOT),
    ),
)
