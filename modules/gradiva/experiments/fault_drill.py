"""An application that walks, and what becomes of it when something goes wrong in the middle of a step."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gradiva.experiments.drilled_walk import DrilledWalk
from gradiva.experiments.drills import Drill, free_running_drills, lockstep_drills
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.private_network import NameServerProcess, joined
from gradiva.experiments.running_application import RunningApplication
from gradiva.experiments.walkers import FREE_RUNNING, LOCKSTEP, SIMULATOR, WalkerOverPorts
from gradiva.middleware import NAMED_ERRORS
from gradiva.setup import Setup, load_setup

_SHORT_PREPARATION = "gradiva-whole-body=--set walking.prepare_duration=0.5"


def run_fault_drill(run: ExperimentRun) -> None:
    """Drill an application in lockstep and, unless quick, free running; the value is the tilt at the end, [deg]."""
    setup = load_setup(run.options.robot)
    _drill_all(run, setup, lockstep_drills(setup), is_lockstep=True)
    if not run.options.quick:
        _drill_all(run, setup, free_running_drills(), is_lockstep=False)


@contextmanager
def drilled_walk(setup: Setup, is_lockstep: bool) -> Iterator[DrilledWalk]:
    """Start simulator, three layers and logger on a network of their own; end them all.

    Raises:
        WalkingError: They do not come.
    """
    wanted = (*(LOCKSTEP if is_lockstep else FREE_RUNNING), _SHORT_PREPARATION)
    additions = [word for addition in wanted for word in ("--add", addition)]
    name = f"{setup.robot.name}-simulation-three"
    with (
        tempfile.TemporaryDirectory(prefix="gradiva-drill-") as path,
        NameServerProcess(Path(path)) as names,
        joined(names.environment),
        RunningApplication(name, names.environment, Path(path), "--restart", *additions) as application,
    ):
        yield DrilledWalk(WalkerOverPorts(application, is_lockstep), names, setup)


def drilled(walk: DrilledWalk, drill: Drill) -> Row:
    """Walk, let it go wrong, look at what came of it, and prepare and start the robot anew.

    Args:
        walk: Prepared and started; afterwards as well.
        drill: What goes wrong.
    """
    before = walk.walker.status()["safety_events"]
    complaint = _complaint_of(walk, drill)
    status, truth = walk.walker.status(), walk.truth()
    row: Row = {
        "fault": drill.fault,
        "done": drill.done,
        "state": walk.state,
        "event": status["last_event"] if status["safety_events"] > before else "",
        "told": walk.reason,
        "stands": walk.is_standing(),
        "recovered": False,
        "paper": None,
        "value": truth["tilt"],
    }
    complaint = complaint or _mismatch(row, drill)
    if not row["stands"]:
        walk.application.ask(SIMULATOR, "reset")
    not_recovered = _recover(walk, row)
    complaint = complaint or not_recovered
    return {**row, "outcome": "failed" if complaint else "met", "reason": complaint}


def _drill_all(run: ExperimentRun, setup: Setup, drills: Sequence[Drill], is_lockstep: bool) -> None:
    common = {"robot": setup.robot.name, "time": "lockstep" if is_lockstep else "free running"}
    with drilled_walk(setup, is_lockstep) as walk:
        walk.get_ready()
        for drill in drills:
            row = {**common, **drilled(walk, drill)}
            run.add_row(row)
            run.report(len(run.rows), None, f"{drill.fault}: {row['state']}, {row['told']}")


def _complaint_of(walk: DrilledWalk, drill: Drill) -> str:
    try:
        walk.walk_to_swing()
        drill.act(walk)
    except NAMED_ERRORS as error:
        return str(error)
    return ""


def _mismatch(row: Row, drill: Drill) -> str:
    if not row["stands"]:
        return "the robot does not stand"
    return drill.complaint(row["state"], row["told"], row["event"])


def _recover(walk: DrilledWalk, row: Row) -> str:
    try:
        walk.get_ready()
    except NAMED_ERRORS as error:
        return f"not recovered: {error}"
    row["recovered"] = True
    return ""
