"""Fault drill: faults of an application while its robot walks, and the state in which each has to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gradiva.common import Side
from gradiva.middleware import NAMED_ERRORS
from gradiva.setup import Plant, Setup, load_setup
from gradiva.simulated_walk import COORDINATOR, SIMULATOR, plan_from_start
from gradiva.simulation import Bump
from gradiva_experiments.campaigns.drill_actions import (
    FAULTY,
    GARBAGE,
    STALL,
    await_port,
    failing,
    fall_silent,
    flood_rpc,
    kill_logger,
    kill_model_control,
    kill_name_server,
    kill_planner,
    kill_planner_and_walk_on,
    kill_whole_body,
    silence,
    stalling,
    stop_planner,
)
from gradiva_experiments.campaigns.drilled_walk import COMMAND, DrilledWalk, drilled_walk, swing_time
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

_SILENCE = f"neither sensors nor commands for {STALL:g} s"
_WEAK_MOTOR = "weak motor"
_WEAK = 0.4  # [-] of its torque that a weak motor has
_BUMP = 0.01  # [m]


@dataclass(frozen=True, slots=True)
class Drill:
    """One fault and the state and event that it has to end in.

    Attributes:
        fault: What it is.
        done: What the drill does.
        act: Does it, with a foot in the air, and waits until the robot does what it should.
        state: In which the walk has to be afterwards.
        reason: Text that the reason of the state has to contain.
        event: Kind of the safety event that has to be reported; empty for none.
        walks_on: Whether the robot is still walking after ``act``; its feet are closed then.
        may_stop: Kind of the event that ends the walk instead, where that is a matter of chance: how long a stall or a
            restart takes depends on the machine. Empty where it is none.
        may_jump: Whether a `clock_jump` may be reported: how far the clock goes in one tick depends on the machine.
    """

    fault: str
    done: str
    act: Callable[[DrilledWalk], None]
    state: str
    reason: str
    event: str = ""
    may_stop: str = ""
    may_jump: bool = False
    walks_on: bool = False

    def complaint(self, state: str, reason: str, event: str) -> str:
        """Return what is not as it should be; empty if all is."""
        if self.may_stop and (state, event) == ("stopped", self.may_stop):
            return ""
        events = (self.event, _JUMP) if self.may_jump else (self.event,)
        if state != self.state or event not in events:
            return f"state {state}, event '{event}' instead of {self.state}, '{self.event}'"
        return "" if self.reason in reason else f"the reason does not contain '{self.reason}'"


def lockstep_drills(setup: Setup) -> list[Drill]:
    """Return those in which time may stand still between two steps of the drill."""
    dead, weak = _disturbance_drills(setup)
    sensors = [*_sensor_drills(setup), dead]
    return [*sensors, _stall_of_everything(_JUMP), *_silent_sources(), *_killed_modules(), _flood(), weak]


def quick_drills(setup: Setup) -> list[Drill]:
    """Return faults of each way to fail, in fewer walks: those that a robot walks through come one after the other.

    A weak motor is left to the long form: it may fell the robot, and with it the drills of the same walk. Of the
    sensors that end a walk one stands for all: a tick without ports has the others.
    """
    _, frozen, *_ = _sensor_drills(setup)
    references, planner_hangs = _silent_sources()
    planner, model_control, whole_body, logger, names = _killed_modules()
    stall = Drill("network stalls", _SILENCE, silence, "walking", "", _JUMP, walks_on=True)
    together = _one_after_the_other(
        [stall, replace(planner, act=kill_planner_and_walk_on), logger, names, _flood(), references]
    )
    return [together, planner_hangs, model_control, frozen, whole_body]


def _one_after_the_other(drills: Sequence[Drill]) -> Drill:
    """Return all of them in one walk, which ends as the last one; the event is the first's."""

    def act(walk: DrilledWalk) -> None:
        for drill in drills:
            drill.act(walk)

    fault, done = (", ".join(getattr(drill, name) for drill in drills) for name in ("fault", "done"))
    return replace(drills[-1], fault=fault, done=done, act=act, event=drills[0].event)


def free_running_drills() -> list[Drill]:
    """Return those in which modules go by the clock alone."""
    stalls = [
        Drill(f"{layer} stalls", f"SIGSTOP for {STALL:g} s", stalling(layer), "paused", _PAUSED, "", may_stop, may_jump)
        for layer, may_stop, may_jump in (
            ("model_control", "", False),
            ("whole_body", _STALE, True),
            ("simulator", _STALE, True),
        )
    ]
    return [*stalls, _stall_of_everything("", may_stop=_STALE, may_jump=True)]


_STALE = "stale_measurement"
_SILENT = "stale_reference"  # of model control
_FORCE = "foot_force"
_JUMP = "clock_jump"  # of a tick that comes late: control time, and the plan, go on by one period
_PAUSED = "paused as commanded, both feet on the ground"


def _sensor_drills(setup: Setup) -> list[Drill]:
    standing = plan_from_start(setup, COMMAND).at(swing_time(setup)).stance_foot
    foot = setup.robot.force_torque_sensors[setup.robot.sensors_of(standing)[0]].name
    knee = most_bent_joint(setup)
    return [
        Drill(fault, f"fault {request}", failing(request), "stopped", reason, event)
        for fault, request, reason, event in (
            ("NaN from a force-torque sensor", f"nan_wrench {FAULTY:g} {foot}", foot, "sensor_not_finite"),
            ("frozen force-torque sensor", f"frozen_wrench {FAULTY:g} {foot}", foot, "sensor_frozen"),
            ("encoder jump", f"encoder_offset {FAULTY:g} {knee} 0.3", knee, "encoder_jump"),
            ("NaN from the IMU", f"nan_imu {FAULTY:g}", "no usable reading", "sensor_not_finite"),
        )
    ]


def most_bent_joint(setup: Setup) -> str:
    """Return the joint of the left leg that is bent most in the start posture: its knee."""
    leg = setup.robot.joint_groups[f"{Side.LEFT}_leg"]
    posture = dict(zip(setup.robot.joints, setup.robot.posture.tolist(), strict=True))
    return max(leg.joints, key=lambda joint: abs(posture[joint]))


def _disturbance_drills(setup: Setup) -> list[Drill]:
    """Return those of which no sensor check reports: a foot whose sensors die, a motor that grows weak."""
    standing = plan_from_start(setup, COMMAND).at(swing_time(setup)).stance_foot
    feet = [setup.robot.force_torque_sensors[row].name for row in setup.robot.sensors_of(standing)]
    dead = [f"dead_wrench {FAULTY:g} {foot}" for foot in feet]
    weak = f"weak_motor {FAULTY:g} {most_bent_joint(setup)} {_WEAK:g}"
    return [
        Drill("dead foot sensor", f"fault {', '.join(dead)}", failing(*dead), "stopped", f"{standing} foot", _FORCE),
        Drill(_WEAK_MOTOR, f"fault {weak}", failing(weak, walks_on=True), "paused", _PAUSED, walks_on=True),
    ]


def bump_drill() -> Drill:
    """Return the drill of a bump that is on the floor already."""
    done = f"{1e3 * _BUMP:.0f} mm below the first steps"
    return Drill("bump", done, failing(walks_on=True), "paused", _PAUSED, walks_on=True)


def bump_below(setup: Setup) -> Bump:
    """Return a bump below the left sole after its first step."""
    plan = plan_from_start(setup, COMMAND)
    foot = plan.at(plan.start_time + 2.0 * swing_time(setup)).foot(Side.LEFT).position
    return Bump(float(foot[0]), float(foot[1]), _BUMP)


def _stall_of_everything(event: str, may_stop: str = "", may_jump: bool = False) -> Drill:
    def act(walk: DrilledWalk) -> None:
        silence(walk)
        walk.end_walk()

    return Drill("network stalls", _SILENCE, act, "paused", _PAUSED, event, may_stop, may_jump)


def _silent_sources() -> list[Drill]:
    return [
        Drill("references stop", "goal:i falls silent", fall_silent, "paused", "goal:i"),
        Drill("planner hangs", "SIGSTOP, a push, then pauseWalking", stop_planner, "paused", _PAUSED),
    ]


def _killed_modules() -> list[Drill]:
    killed = "kill -9, started again"
    return [
        Drill("planner is killed", killed, kill_planner, "paused", _PAUSED),
        Drill("model_control is killed", killed, kill_model_control, "paused", _PAUSED, may_stop=_SILENT),
        Drill("whole_body is killed", killed, kill_whole_body, "configured", "configured"),
        Drill("logger is killed", killed, kill_logger, "paused", _PAUSED, walks_on=True),
        Drill("name server is killed", killed, kill_name_server, "paused", _PAUSED, walks_on=True),
    ]


def _flood() -> Drill:
    return Drill("RPC flood", f"{GARBAGE} times garbage and noise", flood_rpc, "paused", _PAUSED, walks_on=True)


# -- the experiment ----------------------------------------------------------------------------------------------------


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
    complaint = complaint or _error_of(lambda: await_port(walk, COORDINATOR))  # the fault may have ended it
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
    with drilled_walk(setup, is_lockstep, bumps) as walk:
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
        "Gradiva's own campaign",
        "Modules killed, stalls, failing sensors in the middle of a step: does the robot stand and walk again?",
        run_fault_drill,
        "tilt afterwards [°]",
        plants=(Plant.IDEAL, Plant.ROBOT),
    ),
)
